"""The words of a kind of claim: one row next to each plan, carried by every verdict, and read by every rendering.

A report needs no table of kinds: what it says of a limit, of an exponent or of a kind that somebody adds is in the verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class QuantityForm(StrEnum):
    """Comparisons of the number of a claim with the claimed one."""

    VALUE = "value"  # the number itself
    EXPONENT = "exponent"  # the slope of the observations: the number says nothing about their level
    ERROR = "error"  # the number is zero where the claim is true


@dataclass(frozen=True)
class DecidedQuantity:
    """The number by which a claim is decided.

    ``name`` stands in sentences ("a limit of 2"), ``short`` in tables ("distance").
    """

    name: str = ""
    short: str = ""
    form: QuantityForm = QuantityForm.VALUE
    verb: str = "measured"  # before the number: "extrapolated 2.01(3)"
    is_extrapolated: bool = False  # its interval is one at infinity, and drawn there
    is_share: bool = False  # of the draws
    is_difference: bool = False  # of two sides that are compared; nothing is extrapolated
    is_distance: bool = False  # of a law of the draws from another: errors of two runs add up
    has_margin: bool = False  # draws estimate how far off a claim is, so that it can be read with its margin

    @property
    def is_value(self) -> bool:
        """True if the number itself is predicted."""
        return self.form is QuantityForm.VALUE

    @property
    def is_error(self) -> bool:
        """True if the number is zero where the claim is true."""
        return self.form is QuantityForm.ERROR

    @property
    def is_slope(self) -> bool:
        """True if only the slope of the observations is predicted."""
        return self.form is QuantityForm.EXPONENT

    @property
    def is_named(self) -> bool:
        """True if sentences compare it with a claimed value."""
        return bool(self.name) and self.form is not QuantityForm.ERROR


@dataclass(frozen=True)
class Meanings:
    """Meanings of the words of a verdict for this kind; an empty one is that of any claim."""

    supported: str = ""
    refuted: str = ""
    inconclusive: str = ""
    beyond: str = ""  # refuted, where the claim is read with its margin
    within: str = ""  # supported with the margin, and violated all the same


@dataclass(frozen=True)
class KindWords:
    """The words of one kind of claim."""

    kind: str = ""
    quantity: DecidedQuantity = field(default_factory=DecidedQuantity)
    deviation: str = "a deviation of {}"  # that its design notices
    meanings: Meanings = field(default_factory=Meanings)
    noise_of: str = ""  # what the noise of one draw is the noise of, where that is not the number
    spread_of: str = ""  # what the spread is a share of

    def deviating(self, value: str) -> str:
        """The deviation with its value: "a limit off by 0.1"."""
        return self.deviation.replace("{}", value)
