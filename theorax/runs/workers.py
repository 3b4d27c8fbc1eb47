"""Places where a check runs: this process, for theorems of the library; else worker processes, which it may end.

A check is named by an importable path ``module:function``: a function pickled by value would compile anew in every
task. Every process computes with one thread, this one as a worker, so that the number of workers changes no bit.
"""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import wait
from typing import Protocol, cast

from theorax.errors import DesignError, NothingSelected, TheoraxError, UsageError
from theorax.numerics.processes import collect_seldom
from theorax.numerics.threads import one_thread
from theorax.runs.worker_process import LISTENING, Clock, Failed, Phase, Refused, Returned, WorkerProcess, ended
from theorax.verifiers.attempts import GivenAttempts, SpentAttempts, UncountedAttempts
from theorax.verifiers.author_lines import author_s_line, told_with_line
from theorax.verifiers.outcome import Checked, TheoremOutcome
from theorax.verifiers.phases import told_to
from theorax.verifiers.reads import Reads
from theorax.verifiers.settings import Settings

Check = Callable[..., TheoremOutcome | Checked | UncountedAttempts]
"""Function of an id and settings. One that hands back attempts to be counted is called again, with a log of them."""

Heard = Callable[[str, str], None]
"""Function that is given the id of a theorem under way, and the phase of its check that began."""

PERFORM = "theorax.runs.workers:perform_check"


def died(ending: str = "", how_often: str = " twice") -> str:
    """The sentence about a check whose process ended, and ended again where it was tried once more."""
    return (
        f"The process that checked it died{how_often}{f' ({ending})' if ending else ''}. It was ended from outside or by your "
        "own code, ran out of memory, or crashed in compiled code. `--jobs 1` takes the least memory."
    )


@dataclass(frozen=True)
class FinishedCheck:
    """End of one check: an outcome, or with a sentence and, for a programmer's error, its traceback.

    Or of its first stage alone, where it has attempts that are ``uncounted``.
    """

    id: str
    outcome: TheoremOutcome | None = None
    observations: bytes | None = None  # what it was decided from
    sentence: str = ""
    trace: str | None = None
    nothing: bool = False  # no claim is left of what was asked
    usage: bool = False  # the user asked for something that cannot be done: the command ends with the sentence
    undecided: bool = False  # refused as undecidable by its design, before any data
    uncounted: UncountedAttempts | None = None
    spent: SpentAttempts | None = None  # for the log
    reads: Reads = field(default_factory=Reads)


class Workers(Protocol):
    """Does checks; ``capacity`` at a time."""

    capacity: int

    def submit(self, id: str, settings: Settings) -> None:
        """Begin a check."""

    def finished(self, heard: Heard) -> Iterator[FinishedCheck]:
        """The checks that ended; waits for at least one if any is under way, and hands on the phases that begin."""
        ...

    def close(self) -> None:
        """End, without waiting for what is under way."""


def perform_check(check: str | Check, id: str, settings: Settings) -> FinishedCheck:
    """Do one check, or a stage of it; whatever happens inside becomes a `FinishedCheck`, except an interruption."""
    if settings.attempts is None:
        return _performed(check, id, settings)
    log = GivenAttempts(settings.attempts)
    return replace(_performed(check, id, settings, log), spent=log.spent)


def _performed(check: str | Check, id: str, settings: Settings, *log: GivenAttempts) -> FinishedCheck:
    try:
        if isinstance(check, str):
            module, _, name = check.partition(":")
            check = cast("Check", getattr(importlib.import_module(module), name))
        found = check(id, settings, *log)
        if isinstance(found, UncountedAttempts):
            return FinishedCheck(id, uncounted=found)
        if isinstance(found, Checked):
            return FinishedCheck(id, outcome=found.outcome, observations=found.observations, reads=found.reads)
        return FinishedCheck(id, outcome=found)
    except UsageError as error:
        # Where nothing was typed that a model could refuse, its author made the call: the others are checked all the same.
        typed = settings.at or settings.sizes or settings.model
        if not typed and (line := author_s_line(error, settings.roots)):
            return FinishedCheck(id, sentence=f"{line} is refused: {error}")
        return FinishedCheck(id, sentence=error.message, usage=True, nothing=isinstance(error, NothingSelected))
    except DesignError as error:
        return FinishedCheck(id, sentence=str(error), undecided=True)
    except TheoraxError as error:
        return FinishedCheck(id, sentence=str(error))
    except KeyboardInterrupt:
        raise
    except SystemExit as error:
        return FinishedCheck(id, sentence=ended(error), trace=traceback.format_exc())
    except BaseException as error:
        return FinishedCheck(id, sentence=told_with_line(error, settings.roots), trace=traceback.format_exc())


def workers_for(check: str, jobs: int, *, apart: bool = False) -> Workers:
    """Workers for ``jobs`` checks at a time; one works in this process, unless a user's code is to run ``apart``."""
    return InlineWorker(check) if jobs <= 1 and not apart else WorkerPool(check, jobs)


class InlineWorker:
    """Does each check at once, in this process."""

    def __init__(self, check: str) -> None:
        self.capacity = 1
        self._check = check
        self._tasks: list[tuple[str, Settings]] = []
        one_thread()
        collect_seldom()

    def submit(self, id: str, settings: Settings) -> None:
        """Remember the check; it is done when its result is asked for, so that its start can be told first."""
        self._tasks.append((id, settings))

    def finished(self, heard: Heard) -> Iterator[FinishedCheck]:
        """Do what was submitted."""
        while self._tasks:
            id, settings = self._tasks.pop(0)
            with told_to(partial(heard, id)):
                done = perform_check(self._check, id, settings)
            yield done

    def close(self) -> None:
        """Nothing to end."""
        self._tasks.clear()


@dataclass
class _Task:
    """A check that was handed over."""

    id: str
    settings: Settings
    clock: Clock
    deaths: int = 0


@dataclass
class WorkerPool:
    """Does checks in worker processes, one in each.

    A check whose worker dies is done again in a new one, with no other beside it: it may have died for want of memory,
    or by a thread that an earlier theorem left behind. One that dies alone too is at fault itself, and so is one that
    exits from a new process.
    """

    check: str
    capacity: int
    _waiting: list[_Task] = field(default_factory=list)
    _lost: list[_Task] = field(default_factory=list)
    _busy: list[tuple[WorkerProcess, _Task]] = field(default_factory=list)
    _idle: list[WorkerProcess] = field(default_factory=list)
    _clocks: dict[str, Clock] = field(default_factory=dict)  # of checks with a stage behind them

    def submit(self, id: str, settings: Settings) -> None:
        """Hand the check, or its next stage, to a worker, at once if one is free."""
        clock = self._clocks.pop(id) if id in self._clocks else Clock(settings.timeout)
        self._waiting.append(_Task(id, settings, clock))
        self._begin()

    def finished(self, heard: Heard, awaited: Callable[[], None] = lambda: None) -> Iterator[FinishedCheck]:
        """Checks that ended since the last call; ``awaited`` raises where nobody waits for them any more."""
        ended: list[FinishedCheck] = []
        while not ended and self._busy:
            wait([handle for process, _ in self._busy for handle in process.handles], LISTENING)
            for process, task in list(self._busy):
                if (found := self._look(process, task, heard)) is not None:
                    ended.append(found)
            awaited()
            self._begin()
        yield from ended

    def _look(self, process: WorkerProcess, task: _Task, heard: Heard) -> FinishedCheck | None:
        """The end of this check, if it has come."""
        for message in process.messages():
            if isinstance(message, Phase):
                task.clock.reached(message.name)
                heard(task.id, message.name)
                continue
            self._busy.remove((process, task))
            if process.alive:
                self._idle.append(process)
            else:
                process.end()
            found = _finished(task.id, message)
            if found.uncounted is not None:
                self._clocks[task.id] = task.clock
            return found
        if process.alive and not task.clock.is_over:
            return None
        self._busy.remove((process, task))
        is_late = process.alive
        process.end()
        if is_late:
            told = UsageError(task.clock.sentence).told()
            return FinishedCheck(task.id, sentence=told, undecided=not task.clock.is_importing)
        if task.deaths:
            return FinishedCheck(task.id, sentence=died(process.ending))
        if process.calls == 1 and not process.was_killed:
            return FinishedCheck(task.id, sentence=died(process.ending, ""))
        self._lost.append(replace(task, deaths=1, clock=Clock(task.settings.timeout)))
        return None

    def _begin(self) -> None:
        """Begin as many checks as may begin now."""
        while len(self._busy) < self.capacity and not any(task.deaths for _, task in self._busy):
            if self._lost and self._busy:
                return
            if not (self._lost or self._waiting):
                return
            process = None if self._lost else self._idle_one()
            task = (self._lost or self._waiting).pop(0)
            process = process or WorkerProcess()
            process.call(PERFORM, self.check, task.id, task.settings)
            self._busy.append((process, task))

    def _idle_one(self) -> WorkerProcess | None:
        """A worker that is free and still there."""
        while self._idle:
            process = self._idle.pop()
            if not any(process.messages()) and process.alive:
                return process
            process.end()
        return None

    def close(self) -> None:
        """End the workers, whatever they are at."""
        for process in (*self._idle, *(process for process, _ in self._busy)):
            process.end()
        for tasks in (self._waiting, self._lost, self._busy, self._idle):
            tasks.clear()


def _finished(id: str, message: Returned | Refused | Failed) -> FinishedCheck:
    """The end of a check as its worker reported it: `perform_check` returns it, unless it was interrupted."""
    if isinstance(message, Returned):
        found: FinishedCheck = message.value
        return found
    if isinstance(message, Refused):
        return FinishedCheck(id, sentence=message.message)
    return FinishedCheck(id, sentence=message.sentence, trace=message.trace)
