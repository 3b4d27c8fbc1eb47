"""A worker process that runs a user's code: it performs one call at a time, and ends with everything started in it.

Calls go to the process and their results come back through one pipe. A call is named by an importable path
``module:function``: a function pickled by value would compile again in every call.

====================================  ============================================
the call                              becomes
====================================  ============================================
returns                               `Returned` with its value
raises an error of theorax            `Refused` with that error
raises anything else, or exits        `Failed` with a sentence and the traceback
ends the process, or its pipe         no message; the process is not `alive`
====================================  ============================================
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from types import ModuleType
from typing import TYPE_CHECKING, Any

from theorax.errors import (
    DesignError,
    NothingSelected,
    ObservationError,
    StatementError,
    TheoraxError,
    UsageError,
    option,
)
from theorax.numerics.processes import begin_worker, end_group, fresh_processes
from theorax.numerics.threads import one_thread
from theorax.verifiers.author_lines import author_s_line, told_with_line
from theorax.verifiers.phases import IMPORTING, told_to

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

__all__ = ["CallsApart", "Failed", "Refused", "Returned", "WorkerProcess"]

LISTENING = 0.25  # seconds between two looks at clocks, where no message comes
NO_EXIT = (
    "A theorem is stated, built and measured; it does not end the process. Take `sys.exit` and `os._exit` out of it."
)
_KINDS = (NothingSelected, UsageError, StatementError, DesignError, ObservationError)


@dataclass(frozen=True)
class Phase:
    """A phase of a call began."""

    name: str


@dataclass(frozen=True)
class Returned:
    """End of a call that returned."""

    value: Any


@dataclass(frozen=True)
class Refused:
    """End of a call that raised an error of theorax, without what only its process knows."""

    kind: type[TheoraxError]
    message: str


@dataclass(frozen=True)
class Failed:
    """End of a call that raised anything else; ``is_author_s``: a line of a theorem's file did."""

    sentence: str
    trace: str
    is_author_s: bool


Message = Phase | Returned | Refused | Failed


class WorkerProcess:
    """A process of its own, which leads a group of processes."""

    def __init__(self) -> None:
        context = fresh_processes()
        self._pipe, far = context.Pipe()
        self._process = context.Process(target=_serve, args=(far, os.getpid()))
        with _without_main():
            self._process.start()
        far.close()
        self.alive = True
        self.calls = 0

    def call(self, function: str, *arguments: Any, roots: Sequence[str] = ()) -> None:
        """Begin a call; ``roots`` are the folders whose lines are an author's."""
        self.calls += 1
        with suppress(OSError):  # it has ended, which the next look at it finds
            self._pipe.send((function, arguments, tuple(roots)))

    @property
    def handles(self) -> tuple[Any, ...]:
        """Everything that becomes ready when there is a message, or when the process ends."""
        return self._pipe, self._process.sentinel

    def messages(self) -> Iterator[Message]:
        """The messages that have come; at the end of the process, also those that it had sent."""
        if self._process.exitcode is not None:
            self._lost()
        try:
            while self._pipe.poll():
                yield self._pipe.recv()
        except Exception:  # closed, or cut off in the middle of a message
            self._lost()

    def _lost(self) -> None:
        self.alive = False
        end_group(self._process.pid or 0)

    @property
    def was_killed(self) -> bool:
        """True if a signal ended it, not an exit."""
        return (self._process.exitcode or 0) < 0

    @property
    def ending(self) -> str:
        """The end of the process in words."""
        code = self._process.exitcode or 0
        if code >= 0:
            return f"exit code {code}"
        return f"signal {signal.Signals(-code).name if -code in set(signal.Signals) else -code}"

    def end(self) -> None:
        """End the process, whatever it is at, and everything that was started in it."""
        self.alive = False
        if self._process.pid is not None:
            end_group(self._process.pid)
        self._process.kill()
        self._process.join()
        self._pipe.close()


@contextmanager
def _without_main() -> Iterator[None]:
    """Start a process without this one's main program: nothing there is called, and a script would run once more."""
    own = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = own


class CallsApart:
    """Calls in one worker process, which is replaced if it ends; ``seconds`` is the longest that a call may take.

    ``roots``: the folders whose lines are an author's.
    """

    def __init__(self, roots: Sequence[str] = (), seconds: float | None = None) -> None:
        self._roots, self._seconds = roots, seconds
        self._process: WorkerProcess | None = None

    def __enter__(self) -> CallsApart:
        """Nothing is started before the first call."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def call(self, function: str, *arguments: Any, apart: bool = True) -> Any:
        """The value of the function of an importable path ``module:function``.

        Without ``apart`` it is called in this process, unless its time is limited: it runs no user's code.

        **Raises:** as the function does; UsageError if it ends its process, or takes too long, or a line of a theorem's
        file raises an error of Python.
        """
        if not apart and self._seconds is None:
            one_thread()
            return _found(function)(*arguments)
        if self._process is not None:
            # A thread that an earlier call left behind may end the process during this one.
            with suppress(_Ended):
                return self._call(self._process, function, arguments)
        self._process = WorkerProcess()
        try:
            return self._call(self._process, function, arguments)
        except _Ended as error:
            raise UsageError(f"The process that ran it ended ({error}). {NO_EXIT}") from None

    def _call(self, process: WorkerProcess, function: str, arguments: tuple[Any, ...]) -> Any:
        process.call(function, *arguments, roots=self._roots)
        clock = Clock(self._seconds)
        while process.alive:
            wait(process.handles, LISTENING)
            for message in process.messages():
                if not isinstance(message, Phase):
                    return _value(message)
                clock.reached(message.name)
            if clock.is_over:
                self.__exit__()
                raise UsageError(clock.sentence)
        self.__exit__()
        raise _Ended(process.ending)


class _Ended(Exception):
    """The process ended during a call."""


def _value(message: Message) -> Any:
    if isinstance(message, Returned):
        return message.value
    if isinstance(message, Refused):
        raise message.kind(message.message)
    assert isinstance(message, Failed)
    if message.is_author_s:
        raise UsageError(f"{message.sentence}.")
    raise RuntimeError(message.sentence) from RuntimeError(message.trace)


class Clock:
    """Time of a call from the import of the user's file on; the imports of theorax itself do not count."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._until: float | None = None
        self.is_importing = False

    def reached(self, phase: str) -> None:
        """Note that a phase of the call began."""
        self.is_importing = phase == IMPORTING
        if self._until is None and self._seconds is not None:
            self._until = time.monotonic() + self._seconds

    @property
    def is_over(self) -> bool:
        """True once the time is up."""
        return self._until is not None and time.monotonic() > self._until

    @property
    def sentence(self) -> str:
        """The sentence about a call that was ended."""
        given = f"`{option('timeout')} {self._seconds:g}`"
        if self.is_importing:
            return f"The file was still being imported after the time that {given} allows. Correct it, or allow more."
        return f"It took longer than {given} allows, and was ended. Allow more, or take less effort."


def _serve(pipe: Connection, parent: int) -> None:
    """Perform calls until there are no more."""
    begin_worker(parent, leads=True)
    # What a user's code prints is no part of a report, and it reads nothing that is typed to the command.
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
    folder = os.getcwd()
    while True:
        try:
            function, arguments, roots = pipe.recv()
        except (EOFError, OSError):
            return
        os.chdir(folder)  # an earlier call may have left it
        with told_to(lambda name: pipe.send(Phase(name))):
            found = _performed(function, arguments, roots)
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        try:
            pipe.send(found)
        except OSError:  # whoever asked has gone
            return


def _found(function: str) -> Callable[..., Any]:
    module, _, name = function.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found


def _performed(function: str, arguments: tuple[Any, ...], roots: Sequence[str]) -> Message:
    try:
        return Returned(_found(function)(*arguments))
    except TheoraxError as error:
        kind = next((kind for kind in _KINDS if isinstance(error, kind)), TheoraxError)
        return Refused(kind, error.message)
    except SystemExit as error:
        return Failed(ended(error), traceback.format_exc(), is_author_s=True)
    except BaseException as error:
        line = author_s_line(error, roots)
        return Failed(told_with_line(error, roots), traceback.format_exc(), is_author_s=bool(line))


def ended(error: SystemExit) -> str:
    """The sentence about a call that asked for the end of its process."""
    return f"It ended the check with SystemExit({error.code!r}), before there was a result. {NO_EXIT}"
