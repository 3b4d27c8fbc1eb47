"""The errors a user can make: what was given, why it cannot be meant, what to write instead."""


class TheoraxError(Exception):
    """A mistake that its author can mend; shown as one sentence, never as a traceback."""


class UsageError(TheoraxError):
    """The command or a call was given something it cannot use (exit code 2)."""


class NothingSelected(UsageError):
    """A selection is empty; emptiness is never success (exit code 5)."""


class StatementError(TheoraxError):
    """A theorem file states something that cannot be meant."""


class DesignError(TheoraxError):
    """The planned sizes and draws cannot decide the claim they were made for."""


class ObservationError(TheoraxError):
    """A draw returned something that is no observation: a NaN, a wrong shape, a missing letter."""
