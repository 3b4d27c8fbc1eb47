"""Places where a check runs: this process, or in worker processes that outlive none of its accidents.

A check is named by an importable path ``module:function``: a function pickled by value would compile anew in every
task. Every process computes with one thread, this one as a worker, so that the number of workers changes no bit.
"""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, cast

from theorax.errors import DesignError, NothingSelected, TheoraxError, UsageError
from theorax.numerics.processes import collect_seldom, end_now, fresh_processes, worker_processes
from theorax.numerics.threads import one_thread
from theorax.verifiers.attempts import GivenAttempts, SpentAttempts, UncountedAttempts
from theorax.verifiers.author_lines import author_s_line, told_with_line
from theorax.verifiers.outcome import Checked, TheoremOutcome
from theorax.verifiers.phases import told_to
from theorax.verifiers.settings import Settings

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.queues import SimpleQueue

Check = Callable[..., TheoremOutcome | Checked | UncountedAttempts]
"""Function of an id and settings. One that hands back attempts to be counted is called again, with a log of them."""

Heard = Callable[[str, str], None]
"""Function that is given the id of a theorem under way, and the phase of its check that began."""

DIED = (
    "The process that checked it died twice. It was ended from outside or by your own code, ran out of memory, or crashed "
    "in compiled code. `--jobs 1` takes the least memory."
)
LISTENING = 0.25  # seconds between two looks at the phases that worker processes told


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


class Workers(Protocol):
    """Does checks; ``capacity`` at a time."""

    capacity: int

    def submit(self, id: str, settings: Settings) -> None:
        """Begin a check."""

    def finished(self, heard: Heard) -> Iterator[FinishedCheck]:
        """The checks that ended; waits for at least one if any is under way, and hands on the phases that begin."""
        ...

    def close(self, *, now: bool) -> None:
        """End; ``now`` without waiting for what is under way."""


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
            return FinishedCheck(id, outcome=found.outcome, observations=found.observations)
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
        return FinishedCheck(id, sentence=_ended(error), trace=traceback.format_exc())
    except BaseException as error:
        return FinishedCheck(id, sentence=told_with_line(error, settings.roots), trace=traceback.format_exc())


def workers_for(check: str, jobs: int, *, apart: bool = False) -> Workers:
    """Workers for ``jobs`` checks at a time; one works in this process, unless code of a user's own is to run ``apart``."""
    return InlineWorker(check) if jobs <= 1 and not apart else WorkerPool(check, jobs)


def call_apart(function: str, *arguments: Any) -> Any:
    """Call the function of an importable path ``module:function`` in a process of its own.

    **Raises:** as the function does; UsageError if it ends its process instead of returning.
    """
    from concurrent.futures.process import BrokenProcessPool

    with worker_processes(1) as executor:
        try:
            return executor.submit(_called, function, arguments).result()
        except BrokenProcessPool:
            raise UsageError(f"The process that ran it died. {_NO_EXIT}") from None


def _called(function: str, arguments: tuple[Any, ...]) -> Any:
    module, _, name = function.partition(":")
    try:
        return getattr(importlib.import_module(module), name)(*arguments)
    except SystemExit as error:  # it would end whoever asks for the result
        raise UsageError(_ended(error)) from None


_NO_EXIT = "A model is built and applied; it does not end the process. Take `sys.exit` and `os._exit` out of it."


def _ended(error: SystemExit) -> str:
    return f"It ended the check with SystemExit({error.code!r}), before there was a result. {_NO_EXIT}"


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

    def close(self, *, now: bool) -> None:
        """Nothing to end."""
        self._tasks.clear()


class WorkerPool:
    """Does checks in worker processes.

    When a worker dies every check under way is lost and nobody says whose fault it was: each is then done again, alone,
    and the one that dies alone is the culprit.
    """

    def __init__(self, check: str, jobs: int) -> None:
        self.capacity = jobs
        self._check = check
        self._tasks: dict[Future[FinishedCheck], tuple[str, Settings]] = {}
        self._refused: list[tuple[str, Settings]] = []  # by workers that had died, with other checks under way
        self._renew()

    def _renew(self) -> None:
        # One queue per executor: a worker that dies while it writes leaves the queue locked.
        self._phases = fresh_processes().SimpleQueue()
        self._executor = worker_processes(self.capacity, _listen, self._phases)

    def submit(self, id: str, settings: Settings) -> None:
        """Hand the check to a worker."""
        from concurrent.futures.process import BrokenProcessPool

        try:
            future = self._executor.submit(_told, self._check, id, settings)
        except BrokenProcessPool:
            if self._tasks:
                self._refused.append((id, settings))
                return
            end_now(self._executor)
            self._renew()
            future = self._executor.submit(_told, self._check, id, settings)
        self._tasks[future] = (id, settings)

    def finished(self, heard: Heard, awaited: Callable[[], None] = lambda: None) -> Iterator[FinishedCheck]:
        """Checks that ended since the last call; ``awaited`` raises where nobody waits for them any more."""
        from concurrent.futures import FIRST_COMPLETED, wait
        from concurrent.futures.process import BrokenProcessPool

        self._hand_over_again()
        if not self._tasks:
            return
        done: set[Future[FinishedCheck]] = set()
        while not done:
            done, _ = wait(self._tasks, LISTENING, return_when=FIRST_COMPLETED)
            while not self._phases.empty():
                heard(*self._phases.get())
            awaited()
        ended: list[FinishedCheck] = []
        lost: list[tuple[str, Settings]] = []
        for future in done:
            task = self._tasks.pop(future)
            try:
                ended.append(future.result())
            except BrokenProcessPool:
                lost.append(task)
        if lost:
            lost += [*self._tasks.values(), *self._refused]
            self._tasks.clear()
            self._refused.clear()
            end_now(self._executor)
            self._renew()  # before anything is told: who hears it may hand over more
        yield from ended
        for id, settings in lost:
            yield self._alone(id, settings)

    def _hand_over_again(self) -> None:
        """Hand over what dead workers refused: those under way may have ended before, and none is lost that renews the pool."""
        refused, self._refused = self._refused, []
        for id, settings in refused:
            self.submit(id, settings)

    def _alone(self, id: str, settings: Settings) -> FinishedCheck:
        from concurrent.futures.process import BrokenProcessPool

        with worker_processes(1) as executor:
            try:
                return executor.submit(perform_check, self._check, id, settings).result()
            except BrokenProcessPool:
                return FinishedCheck(id, sentence=DIED)

    def close(self, *, now: bool) -> None:
        """End the workers."""
        if now:
            end_now(self._executor)
        else:
            self._executor.shutdown(cancel_futures=True)


def _listen(phases: SimpleQueue[tuple[str, str]]) -> None:
    _PHASES[:] = [phases]


_PHASES: list[SimpleQueue[tuple[str, str]]] = []  # one in a worker process that is listened to


def _told(check: str, id: str, settings: Settings) -> FinishedCheck:
    """Do one check in a worker process, and tell its phases to the process that reports."""

    def tell(name: str) -> None:
        for queue in _PHASES:
            queue.put((id, name))

    with told_to(tell):
        return perform_check(check, id, settings)
