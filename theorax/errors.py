"""The errors a user can make: what was given, why it cannot be meant, what to write instead."""

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
    """A theorem file states something that cannot be meant."""


class UnknownLetter(StatementError, AttributeError):
    """A namespace holds no letter or hypothesis of this name; `hasattr` answers False, as of any value."""


class DesignError(TheoraxError):
    """The planned sizes and draws cannot decide the claim they were made for."""


class ObservationError(TheoraxError):
    """A draw returned something that is no observation: a NaN, a wrong shape, a missing letter."""
