"""What is declared about the tails of a quantity: it decides which interval for its mean is valid.

No interval for a mean holds whatever the tails are. What is not declared cannot be read off the data either: a sample
without its rare large values looks like one that has none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, final

from sympy import Basic, Expr, Symbol, sympify

from theorax.decide.verdict import Assumption
from theorax.errors import StatementError

__all__ = ["Bounded", "BoundedVariance", "Moments", "TwoValues"]


@final
@dataclass(frozen=True)
class Bounded:
    """The quantity never leaves [low, high]; numbers, or expressions of letters that are known before a draw."""

    low: Expr | float
    high: Expr | float

    def __post_init__(self) -> None:
        _known(self, "low", "high")
        if _numbers(self.low, self.high) and not float(self.low) < float(self.high):
            raise StatementError(
                f"Bounded({self.low}, {self.high}) is no range. Its lower end lies below its upper one. "
                "Write the smaller number first."
            )

    @property
    def letters(self) -> frozenset[Symbol]:
        """The letters in the bounds."""
        return _letters(self.low, self.high)

    def __str__(self) -> str:
        return f"values in [{self.low}, {self.high}]"


@final
@dataclass(frozen=True)
class TwoValues:
    """The quantity takes the values ``low`` and ``high`` and no other: its mean is a proportion."""

    low: Expr | float = 0
    high: Expr | float = 1

    def __post_init__(self) -> None:
        _known(self, "low", "high")
        if _numbers(self.low, self.high) and not float(self.low) < float(self.high):
            raise StatementError(
                f"TwoValues({self.low}, {self.high}) are not two values in order. A proportion counts the larger. "
                "Write the smaller number first."
            )

    @property
    def letters(self) -> frozenset[Symbol]:
        """The letters in the values."""
        return _letters(self.low, self.high)

    def __str__(self) -> str:
        return f"the values {self.low} and {self.high} only"


@final
@dataclass(frozen=True)
class BoundedVariance:
    """The variance of one draw is at most ``variance``, however heavy the tails."""

    variance: Expr | float

    def __post_init__(self) -> None:
        _known(self, "variance")
        if _numbers(self.variance) and not 0 < float(self.variance) < math.inf:
            raise StatementError(
                f"BoundedVariance({self.variance}) bounds nothing. A variance is positive and this bound must be "
                "finite. Write the largest variance that one draw can have."
            )

    @property
    def letters(self) -> frozenset[Symbol]:
        """The letters in the bound."""
        return _letters(self.variance)

    def __str__(self) -> str:
        return f"a variance of at most {self.variance}"


Moments = Literal["light tails"] | Bounded | TwoValues | BoundedVariance


def _known(declared: object, *names: str) -> None:
    for name in names:
        object.__setattr__(declared, name, sympify(getattr(declared, name)))


def _numbers(*values: Any) -> bool:
    return all(isinstance(value, Basic) and bool(value.is_number) for value in values)


def _letters(*values: Any) -> frozenset[Symbol]:
    return frozenset().union(*(value.free_symbols for value in values if isinstance(value, Basic)))


def of_tails(moments: Moments) -> Assumption:
    """What is taken for granted about the tails of one draw."""
    said = "light tails, so that Student's t holds" if moments == "light tails" else str(moments)
    return Assumption("moment", f"one draw of what is averaged has {said}", "declared")
