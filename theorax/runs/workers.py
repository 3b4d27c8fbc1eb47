"""Places where a check runs: this process, or in worker processes that outlive none of its accidents.

A check is named by an importable path ``module:function``: a function pickled by value would compile anew in every
task. Every process computes with one thread, this one as a worker, so that the number of workers changes no bit.
"""

from __future__ import annotations

import importlib
import os
import signal
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from theorax.errors import DesignError, TheoraxError, UsageError
from theorax.numerics.threads import one_thread
from theorax.verifiers.outcome import Checked, TheoremOutcome
from theorax.verifiers.settings import Settings

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

Check = Callable[[str, Settings], TheoremOutcome | Checked]


@dataclass(frozen=True)
class FinishedCheck:
    """End of one check: an outcome, or with a sentence and, for a programmer's error, its traceback."""

    id: str
    outcome: TheoremOutcome | None = None
    observations: bytes | None = None  # what it was decided from
    sentence: str = ""
    trace: str | None = None
    usage: bool = False  # the user asked for something that cannot be done: the command ends with the sentence
    undecided: bool = False  # refused as undecidable by its design, before any data


class Workers(Protocol):
    """Does checks; ``capacity`` at a time."""

    capacity: int

    def submit(self, id: str, settings: Settings) -> None:
        """Begin a check."""

    def finished(self) -> Iterator[FinishedCheck]:
        """The checks that ended; waits for at least one if any is under way."""
        ...

    def close(self, *, now: bool) -> None:
        """End; ``now`` without waiting for what is under way."""


def perform_check(check: str, id: str, settings: Settings) -> FinishedCheck:
    """Do one check; whatever happens inside becomes a :class:`Finished`, except an interruption."""
    try:
        module, _, name = check.partition(":")
        function: Check = getattr(importlib.import_module(module), name)
        found = function(id, settings)
        if isinstance(found, Checked):
            return FinishedCheck(id, outcome=found.outcome, observations=found.observations)
        return FinishedCheck(id, outcome=found)
    except UsageError as error:
        return FinishedCheck(id, sentence=error.message, usage=True)
    except DesignError as error:
        return FinishedCheck(id, sentence=str(error), undecided=True)
    except TheoraxError as error:
        return FinishedCheck(id, sentence=str(error))
    except Exception as error:
        return FinishedCheck(id, sentence=_where(error), trace=traceback.format_exc())


def workers_for(check: str, jobs: int) -> Workers:
    """Workers for ``jobs`` checks at a time; one works in this process."""
    return InlineWorker(check) if jobs <= 1 else WorkerPool(check, jobs)


class InlineWorker:
    """Does each check at once, in this process."""

    def __init__(self, check: str) -> None:
        self.capacity = 1
        self._check = check
        self._tasks: list[tuple[str, Settings]] = []
        one_thread()

    def submit(self, id: str, settings: Settings) -> None:
        """Remember the check; it is done when its result is asked for, so that its start can be told first."""
        self._tasks.append((id, settings))

    def finished(self) -> Iterator[FinishedCheck]:
        """Do what was submitted."""
        while self._tasks:
            id, settings = self._tasks.pop(0)
            yield perform_check(self._check, id, settings)

    def close(self, *, now: bool) -> None:
        """Nothing to end."""
        self._tasks.clear()


class WorkerPool:
    """Does checks in worker processes.

    When a worker dies every check under way is lost and nobody says whose fault it was: each is then done again, alone,
    and the one that dies alone is the culprit.
    """

    def __init__(self, check: str, jobs: int) -> None:
        from multiprocessing import active_children

        self.capacity = jobs
        self._check = check
        self._foreign = {child.pid for child in active_children()}
        self._tasks: dict[Future[FinishedCheck], tuple[str, Settings]] = {}
        self._executor = _executor(jobs)

    def submit(self, id: str, settings: Settings) -> None:
        """Hand the check to a worker."""
        from concurrent.futures.process import BrokenProcessPool

        try:
            future = self._executor.submit(perform_check, self._check, id, settings)
        except BrokenProcessPool:
            self._executor = _executor(self.capacity)
            future = self._executor.submit(perform_check, self._check, id, settings)
        self._tasks[future] = (id, settings)

    def finished(self) -> Iterator[FinishedCheck]:
        """Checks that ended since the last call."""
        from concurrent.futures import FIRST_COMPLETED, wait
        from concurrent.futures.process import BrokenProcessPool

        if not self._tasks:
            return
        done, _ = wait(self._tasks, return_when=FIRST_COMPLETED)
        lost: list[tuple[str, Settings]] = []
        for future in done:
            task = self._tasks.pop(future)
            try:
                yield future.result()
            except BrokenProcessPool:
                lost.append(task)
        if lost:
            lost.extend(self._tasks.values())
            self._tasks.clear()
            self._executor.shutdown(wait=False, cancel_futures=True)
            for id, settings in lost:
                yield self._alone(id, settings)
            self._executor = _executor(self.capacity)

    def _alone(self, id: str, settings: Settings) -> FinishedCheck:
        from concurrent.futures.process import BrokenProcessPool

        with _executor(1) as executor:
            try:
                return executor.submit(perform_check, self._check, id, settings).result()
            except BrokenProcessPool:
                return FinishedCheck(
                    id,
                    sentence="The process that checked it died, twice: it was killed from outside, ran out of memory "
                    "or crashed in compiled code. `--jobs 1` takes the least memory.",
                )

    def close(self, *, now: bool) -> None:
        """End the workers."""
        from multiprocessing import active_children

        self._executor.shutdown(wait=not now, cancel_futures=True)
        if now:
            for child in active_children():
                if child.pid not in self._foreign:
                    child.terminate()


def _executor(jobs: int) -> ProcessPoolExecutor:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_begin)


def _begin() -> None:
    # Ctrl-C reaches the whole group of processes; only the one that reports may answer it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    one_thread()


def _where(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    place = f" ({os.path.basename(last.filename)}, line {last.lineno})" if last else ""
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}{place}" if text else f"{type(error).__name__}{place}"
