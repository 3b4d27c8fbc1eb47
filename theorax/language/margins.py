"""Margins: how far off a statement may be before "false by at least the margin" is what must be rejected."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Self, final

from sympy import Rational

from theorax.errors import StatementError, problem


@dataclass(frozen=True)
class Margin(ABC):
    """A positive distance from the claimed value; abstract, see :class:`Absolute` and :class:`Relative`.

    ``reason``: why a statement that is off by less may pass, such as how far away the nearest wrong statement lies. It is
    told to a reader and is no part of the distance: margins of one distance are equal.
    """

    numerator: int
    denominator: int
    reason: str = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.numerator <= 0 or self.denominator <= 0:
            problem(
                "margin-positive",
                f"{type(self).__name__}({self.numerator}, {self.denominator}) is no margin. A margin is a positive "
                f'distance. Write two positive integers, {type(self).__name__}(1, 10, "...") for a tenth.',
            )
        if not self.reason.strip():
            problem(
                "margin-reason",
                f"{type(self).__name__}({self.numerator}, {self.denominator}) has no reason. A reader must be told why a "
                f"statement off by less may pass. Write {type(self).__name__}({self.numerator}, {self.denominator}, "
                '"the nearest wrong statement in the literature lies ... away").',
            )

    @property
    def value(self) -> Rational:
        """The margin as an exact number."""
        return Rational(self.numerator, self.denominator)

    def times(self, factor: int) -> Self:
        """A margin ``factor`` times as wide, for the same reason."""
        return replace(self, numerator=factor * self.numerator)

    @abstractmethod
    def around(self, claimed: float) -> float:
        """The distance meant at this claimed value.

        **Raises:** StatementError for a relative margin around zero.
        """


@final
class Absolute(Margin):
    """A margin in the units of the quantity itself; the only one that decides anything around zero."""

    def around(self, claimed: float) -> float:
        return float(self.value)

    def __str__(self) -> str:
        return f"± {self.value}"


@final
class Relative(Margin):
    """A margin as a fraction of the claimed value."""

    def around(self, claimed: float) -> float:
        if claimed == 0:
            raise StatementError.of(
                "margin-around-zero",
                f"Relative({self.numerator}, {self.denominator}) around zero is zero. A relative margin around a "
                "claimed value of zero decides nothing. Write Absolute(...) instead.",
            )
        return float(self.value) * abs(claimed)

    def __str__(self) -> str:
        return f"± {self.value} of the claimed value"
