"""What is declared about the moments of a random quantity; it alone says which interval for its mean is valid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from theorax.decide.draws import Gathered
from theorax.decide.plans import Seeds, positive
from theorax.errors import DesignError, ObservationError
from theorax.names import did_you_mean
from theorax.verifiers.decision import Reason, Refusal
from theorax.verifiers.estimate import betting, catoni, proportion, score_range, score_variance
from theorax.verifiers.interval import Interval
from theorax.verifiers.outcome import Assumption

__all__ = ["LIGHT_TAILS", "Bounded", "BoundedVariance", "Moment", "interval_of", "ledger_of", "spread_of"]

LIGHT_TAILS = "light tails"
FEWEST_DRAWS = 30  # below, the assertion of light tails would carry the whole result (METHOD, section 4.3)


@final
@dataclass(frozen=True)
class Bounded:
    """Every draw lies in [low, high], surely."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise DesignError(
                f"Bounded({self.low!r}, {self.high!r}) is no range. Every draw must lie in it. Write low below high."
            )


@final
@dataclass(frozen=True)
class BoundedVariance:
    """The variance of one draw is at most this, however heavy the tails."""

    variance: float

    def __post_init__(self) -> None:
        positive("variance", self.variance, "a bound of the variance of one draw")


Moment = str | Bounded | BoundedVariance


def spread_of(moments: Moment) -> float:
    """The largest standard deviation that a declaration leaves, to plan with.

    **Raises:** `DesignError` where the declaration bounds none, or is unknown.
    """
    match moments:
        case Bounded(low, high):
            return (high - low) / 2
        case BoundedVariance(variance):
            return math.sqrt(variance)
        case "light tails":
            raise DesignError(
                "No sd was planned. The weights balance bias against noise, and the data may not be asked for it. "
                "Write sd=..., from a pilot on other seeds or from what you know; a wrong one costs width, not validity."
            )
        case _:
            raise DesignError(
                f"moments={moments!r} is no declaration under which means can be decided"
                f"{did_you_mean(str(moments), [LIGHT_TAILS])} "
                'Write "light tails", decide.Bounded(low, high) or decide.BoundedVariance(v); with nothing declared ask '
                "for a quantile instead of a mean."
            )


def interval_of(moments: Moment, gathered: Gathered, k: np.ndarray, bias: float, seeds: Seeds) -> Interval:
    """The interval of the weighted mean that the declaration makes valid.

    **Raises:** `Refusal` for too few draws; `ObservationError` for values outside the declared range.
    """
    if isinstance(moments, str):
        if moments != LIGHT_TAILS:
            spread_of(moments)
        fewest = min(gathered.summary.counts)
        if fewest < FEWEST_DRAWS:
            raise Refusal(
                Reason.MOMENTS_UNDECLARED,
                f"{fewest} draws were given with light tails asserted. So few say nothing about a mean unless a bound "
                f"is known. Write at least {FEWEST_DRAWS} draws, or declare a range or a variance.",
            )
        return gathered.summary.interval(k, bias)
    counts = set(gathered.summary.counts)
    if not gathered.columns or len(counts) > 1:
        raise ObservationError(
            f"Draws of {len(counts)} different numbers, or streamed ones, were given for means of bounded range or "
            "variance. Their intervals need scores, one draw of every size each, and every one of them. "
            "Hand over equally many draws at every size."
        )
    table = np.stack(gathered.columns, axis=1)
    scores = table @ k
    if isinstance(moments, Bounded):
        inside = (table >= moments.low) & (table <= moments.high)
        if not inside.all():
            row, column = np.argwhere(~inside)[0]
            raise ObservationError(
                f"Draw {row + 1} at size {column + 1} is {table[row, column]:g}, outside the declared range "
                f"[{moments.low:g}, {moments.high:g}]. An interval for the mean would be void. "
                "Declare the range that the quantity cannot leave."
            )
        if len(k) == 1 and k[0] == 1 and np.isin(table, (moments.low, moments.high)).all():
            return proportion(table[:, 0], moments.low, moments.high, bias)
        low, high = score_range(k, moments.low, moments.high)
        # Rounding may carry a score past the end of its range by an ulp, which the interval's rounding covers.
        return betting(np.clip(scores, low, high), low, high, bias)
    return catoni(scores, score_variance(k, moments.variance, seeds is Seeds.INDEPENDENT), bias)


def ledger_of(moments: Moment) -> Assumption:
    """The declaration as an entry of the ledger."""
    match moments:
        case Bounded(low, high):
            return Assumption("moment", f"every draw lies in [{low:g}, {high:g}]", "tested")
        case BoundedVariance(variance):
            return Assumption("moment", f"the variance of one draw is at most {variance:g}", "declared")
        case _:
            return Assumption("moment", "light tails: weighted means are near normal (Student's t)", "declared")
