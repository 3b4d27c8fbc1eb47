"""What is declared about the moments of a random quantity; it alone says which interval for its mean is valid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from theorax.decide.bias_aware import Bias, Weights
from theorax.decide.designs import Plan
from theorax.decide.interval import Interval
from theorax.decide.mean_intervals import FEWEST_DRAWS, LIGHT, Declared, mean_of
from theorax.decide.plans import positive
from theorax.decide.samples import Gathered
from theorax.decide.status import Reason, Refusal
from theorax.decide.verdict import Assumption
from theorax.errors import DesignError, ObservationError
from theorax.names import did_you_mean

__all__ = ["LIGHT_TAILS", "Bounded", "BoundedVariance", "Moment", "TwoValues", "interval_of", "ledger_of", "spread_of"]

LIGHT_TAILS = "light tails"


@final
@dataclass(frozen=True)
class Bounded:
    """Every draw lies in [low, high], surely."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _ordered(self.low, self.high, "Bounded")

    @property
    def declared(self) -> Declared:
        """In the terms of the estimators."""
        return Declared("range", (float(self.low),), (float(self.high),))


@final
@dataclass(frozen=True)
class TwoValues:
    """Every draw is ``low`` or ``high``: the mean is a proportion."""

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        _ordered(self.low, self.high, "TwoValues")

    @property
    def declared(self) -> Declared:
        """In the terms of the estimators."""
        return Declared("two values", (float(self.low),), (float(self.high),))


@final
@dataclass(frozen=True)
class BoundedVariance:
    """The variance of one draw is at most this, however heavy the tails."""

    variance: float

    def __post_init__(self) -> None:
        positive("variance", self.variance, "a bound of the variance of one draw")

    @property
    def declared(self) -> Declared:
        """In the terms of the estimators."""
        return Declared("variance", variance=(float(self.variance),))


Moment = str | Bounded | TwoValues | BoundedVariance


def declared_of(moments: Moment) -> Declared:
    """The declaration in the terms of the estimators.

    **Raises:** `DesignError` for one that is unknown.
    """
    if isinstance(moments, Bounded | TwoValues | BoundedVariance):
        return moments.declared
    if moments == LIGHT_TAILS:
        return LIGHT
    raise DesignError(
        f"moments={moments!r} is no declaration under which means can be decided"
        f"{did_you_mean(str(moments), [LIGHT_TAILS])} "
        'Write "light tails", decide.Bounded(low, high), decide.TwoValues(low, high) or decide.BoundedVariance(v); with '
        "nothing declared ask for a quantile instead of a mean: decide.plan_quantile."
    )


def spread_of(moments: Moment) -> float:
    """The largest standard deviation that a declaration leaves, to plan with.

    **Raises:** `DesignError` where the declaration bounds none, or is unknown.
    """
    match moments:
        case Bounded(low, high) | TwoValues(low, high):
            return (high - low) / 2
        case BoundedVariance(variance):
            return math.sqrt(variance)
        case _:
            declared_of(moments)
            raise DesignError(
                "No sd was planned. The weights balance bias against noise, and the data may not be asked for it. "
                "Write sd=..., from a pilot on other seeds or from what you know; a wrong one costs width, not validity."
            )


def interval_of(moments: Moment, core: Plan, gathered: Gathered, k: np.ndarray, bias: float) -> Interval:
    """The interval of the weighted mean that the declaration makes valid.

    **Raises:** `Refusal` for too few draws; `ObservationError` for values outside the declared range.
    """
    if moments == LIGHT_TAILS:
        fewest = min(gathered.summary.counts)
        if fewest < FEWEST_DRAWS:
            raise Refusal(
                Reason.MOMENTS_UNDECLARED,
                f"{fewest} draws were given with light tails asserted. So few say nothing about a mean unless a bound "
                f"is known. Write at least {FEWEST_DRAWS} draws, or declare a range or a variance.",
            )
        return gathered.summary.interval(k, bias)
    if isinstance(moments, Bounded):
        for at, column in enumerate(gathered.columns):
            outside = np.flatnonzero((column < moments.low) | (column > moments.high))
            if outside.size:
                raise ObservationError(
                    f"Draw {outside[0] + 1} at size {at + 1} is {column[outside[0]]:g}, outside the declared range "
                    f"[{moments.low:g}, {moments.high:g}]. An interval for the mean would be void. "
                    "Declare the range that the quantity cannot leave."
                )
    return mean_of(declared_of(moments), Weights(core, tuple(map(float, k)), Bias(given=bias)), gathered.columns)


def ledger_of(moments: Moment) -> Assumption:
    """The declaration as an entry of the ledger."""
    match moments:
        case Bounded(low, high):
            return Assumption("moment", f"no draw can leave [{low:g}, {high:g}]", "declared")
        case TwoValues(low, high):
            return Assumption("moment", f"every draw is {low:g} or {high:g}", "declared")
        case BoundedVariance(variance):
            return Assumption("moment", f"the variance of one draw is at most {variance:g}", "declared")
        case _:
            return Assumption("moment", "light tails: weighted means are near normal (Student's t)", "declared")


def _ordered(low: float, high: float, name: str) -> None:
    if not -math.inf < low < high < math.inf:
        raise DesignError(f"{name}({low!r}, {high!r}) is no range. Every draw must lie in it. Write low below high.")
