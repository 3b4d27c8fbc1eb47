"""The errors a user can make: what was given, why it has no meaning, what to write instead."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Self

_DASHES = "\ue000"  # stands before the name of an option in a message, for what its front end writes there


def option(name: str) -> str:
    """An option of the command as a message names it; each front end spells it as it is typed there.

    >>> error = UsageError(f"`{option('at')} l`: no value.")
    >>> str(error), error.told("--verify-")
    ('`--at l`: no value.', '`--verify-at l`: no value.')
    """
    return f"{_DASHES}{name}"


class TheoraxError(Exception):
    """A mistake that its author can mend; shown as one sentence, never as a traceback."""

    @property
    def message(self) -> str:
        """The sentence as it was raised, its options not spelt yet."""
        return str(self.args[0]) if self.args else ""

    def told(self, dashes: str = "--") -> str:
        """The sentence, with its options spelt so."""
        return self.message.replace(_DASHES, dashes)

    def __str__(self) -> str:
        return self.told()


class UsageError(TheoraxError):
    """The command or a call was given something it cannot use (exit code 2)."""


class NothingSelected(UsageError):
    """A selection is empty; emptiness is never success (exit code 5)."""


class StatementError(TheoraxError):
    """An error of a theorem's file: something is stated that has no meaning.

    ``rule``: the name under which `verify explain` tells more. ``claim``: the name of the claim that it is about.
    ``calls``: file and line of every call under way, the innermost first.
    """

    rule = "statement"
    claim = ""
    calls: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, rule: str, sentence: str, claim: str = "") -> Self:
        """The error that breaks this rule."""
        error = cls(sentence)
        error.rule, error.claim, error.calls = rule, claim, tuple(_calls())
        return error

    def line_in(self, file: str) -> int | None:
        """The line of this file that was being executed; None if none was."""
        return next((line for name, line in self.calls if name == file), None)


def _calls() -> Iterator[tuple[str, int]]:
    from traceback import walk_stack

    return ((frame.f_code.co_filename, line) for frame, line in walk_stack(None))


_COLLECTED: ContextVar[list[StatementError] | None] = ContextVar("collected", default=None)


def problem(rule: str, sentence: str, claim: str = "") -> None:
    """Raise an error of a statement, or record it and go on inside `collecting`.

    **Raises:** StatementError outside `collecting`.
    """
    error, found = StatementError.of(rule, sentence, claim), _COLLECTED.get()
    if found is None:
        raise error
    found.append(error)


@contextmanager
def collecting() -> Generator[list[StatementError]]:
    """Record the errors of statements that are built inside, instead of raising the first.

    >>> with collecting() as found:
    ...     problem("no-draws", "An experiment with no draws observes nothing.")
    >>> [error.rule for error in found]
    ['no-draws']
    """
    found: list[StatementError] = []
    token = _COLLECTED.set(found)
    try:
        yield found
    finally:
        _COLLECTED.reset(token)


class UnknownLetter(StatementError, AttributeError):
    """A namespace holds no letter or hypothesis of this name; `hasattr` answers False, as of any value."""


class DesignError(TheoraxError):
    """The planned sizes and draws cannot decide the claim they were made for."""


class TooFewSizes(DesignError):
    """A sweep has fewer sizes than its claim needs, which is ``needed``."""

    def __init__(self, message: str, needed: int) -> None:
        super().__init__(message, needed)
        self.needed = needed


class ObservationError(TheoraxError):
    """A draw returned something that is no observation: a NaN, a wrong shape, a missing letter."""
