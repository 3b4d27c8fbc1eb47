"""From declared moments to an interval of the weighted means: one table from declarations to estimators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from theorax.decide.bias_aware import Weights
from theorax.decide.designs import Plan, Policy, Tails
from theorax.decide.estimators import (
    betting,
    catoni,
    independent,
    paired,
    proportion,
    score_range,
    score_variance,
    scores,
)
from theorax.decide.interval import Interval
from theorax.decide.status import Reason, Refusal
from theorax.errors import ObservationError

__all__ = ["FEWEST_DRAWS", "LIGHT", "Declared", "mean_of"]

FEWEST_DRAWS = 30  # below, the assertion of light tails would carry the whole result (METHOD, section 4.3)


@dataclass(frozen=True)
class Declared:
    """What is declared of the draws at each size, in numbers: one entry per size, or one for all.

    | kind | needs | interval of the scores |
    |---|---|---|
    | light tails | | Student's t, at least thirty draws |
    | range | low, high | betting |
    | two values | low, high | Clopper-Pearson at one size, else betting |
    | variance | variance | Catoni |
    """

    kind: Literal["light tails", "range", "two values", "variance"] = "light tails"
    low: tuple[float, ...] = (0.0,)
    high: tuple[float, ...] = (1.0,)
    variance: tuple[float, ...] = (1.0,)
    fewest: int = FEWEST_DRAWS  # draws below which an assertion of light tails is refused

    @property
    def tails(self) -> Tails:
        """What a plan must know of it."""
        return {"range": Tails.RANGE, "two values": Tails.RANGE, "variance": Tails.VARIANCE}.get(self.kind, Tails.LIGHT)

    def planned(self, plan: Plan) -> Plan:
        """The plan with the interval's own width: a declared variance is the planned one."""
        sd = plan.sd if self.kind != "variance" else tuple(math.sqrt(v) for v in self._each(self.variance, plan))
        return replace(plan, tails=self.tails, sd=sd)

    def _each(self, values: tuple[float, ...], plan: Plan) -> tuple[float, ...]:
        return values * len(plan.sizes) if len(values) == 1 else values

    def each(self, name: Literal["low", "high", "variance"], plan: Plan) -> np.ndarray:
        """One declared number per size."""
        return np.asarray(self._each(getattr(self, name), plan))


LIGHT = Declared()


def mean_of(
    declared: Declared, weights: Weights, samples: Sequence[ArrayLike], errors: ArrayLike | float = 0.0
) -> Interval:
    """The interval of the weighted means; ``errors`` bound the mean error of the draws at each size and widen it.

    Intervals other than Student's need one score per draw, and so equally many draws at every size; draws of different
    seeds are joined in their order, which is not looked at.

    **Raises:** `Refusal` where light tails are asserted of too few draws; `ObservationError` for data that leave what
    was declared, or unequal numbers of draws.
    """
    plan, k, bias = weights.plan, weights.vector, weights.bias.total
    columns = [np.asarray(sample, float) for sample in samples]
    if declared.kind == "light tails":
        if (fewest := min(map(len, columns))) < declared.fewest:
            raise Refusal(
                Reason.MOMENTS_UNDECLARED,
                f"{fewest} draws were given with light tails asserted. So few say nothing about a mean unless a bound "
                f"is known. Write at least {declared.fewest} draws, or declare a range or a variance.",
            )
        together = plan.policy is Policy.PAIRED
        interval = paired(np.stack(columns, axis=1), k, bias) if together else independent(columns, k, bias)
    else:
        interval = _declared(declared, plan, columns, k, bias)
    return replace(interval, rounding=interval.rounding + float(np.abs(k) @ np.broadcast_to(errors, k.shape)))


def _declared(declared: Declared, plan: Plan, columns: Sequence[np.ndarray], k: np.ndarray, bias: float) -> Interval:
    if len({len(column) for column in columns}) > 1:
        raise ObservationError(
            f"Sizes with between {min(map(len, columns))} and {max(map(len, columns))} draws were given under "
            f"declared moments ({declared.kind}). Their interval is made of one score per draw, over all sizes. "
            "Give equally many draws at every size."
        )
    table = np.stack(columns, axis=1)
    if declared.kind == "variance":
        v = declared.each("variance", plan)
        # Scores of unequal variances: their weights in units of the standard deviations.
        bound = score_variance(k * np.sqrt(v), 1.0, plan.policy is not Policy.PAIRED)
        return catoni(scores(table, k), bound, bias)
    low, high = declared.each("low", plan), declared.each("high", plan)
    if outside := np.flatnonzero((table.min(axis=0) < low) | (table.max(axis=0) > high)).tolist():
        at = outside[0]
        raise ObservationError(
            f"Data declared to lie in [{low[at]:g}, {high[at]:g}] reach from {table[:, at].min():g} to "
            f"{table[:, at].max():g} at size {plan.sizes[at]:g}. An interval for the mean would be void. "
            "Declare the range that the quantity cannot leave."
        )
    if declared.kind == "two values":
        if len(columns) == 1 and k[0] == 1:
            return proportion(columns[0], float(low[0]), float(high[0]), bias)
        if not ((table == low) | (table == high)).all():
            raise ObservationError(
                "Data declared to take two values take others. Their mean is no proportion. Declare a range instead."
            )
    bottom, top = score_range(k, low, high)
    z = scores(table, k)
    # A score is a rounded sum of what it is: the range is widened by that rounding, which costs nothing else.
    reach = len(k) * 2.0**-52 * float(np.abs(k) @ np.maximum(np.abs(low), np.abs(high)))
    return betting(z, bottom - reach, top + reach, bias)
