r"""Rates of convergence in law: the exponent of its distance from the limit, free of the noise's own contribution.

The squared distance of mean features carries the noise, $E\|\bar f - f_Q\|^2 = \|E f - f_Q\|^2 + \mathrm{tr\,Cov}/N$.
Its unbiased estimate over all pairs of different draws is

$$U = \frac{\|\sum_s (f_s - f_Q)\|^2 - \sum_s \|f_s - f_Q\|^2}{N (N - 1)},$$

and $y = \frac12 \log U$ has the exponent of the distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from theorax.decide.bias_aware import Weights
from theorax.decide.designs import Policy, Target
from theorax.decide.estimators import independent, paired
from theorax.decide.interval import Interval
from theorax.decide.status import Reason, Refusal
from theorax.decide.sweep_decisions import WeightedMeans
from theorax.decide.verdict import Point
from theorax.errors import DesignError
from theorax.names import many

__all__ = ["FEWEST_BATCHES", "DistancesOfLaws", "rate_of_law", "squared_distance"]

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

FEWEST_BATCHES = 32


@final
@dataclass(frozen=True, eq=False)
class DistancesOfLaws(WeightedMeans):
    """Features of every draw at every size, and those of the law that is approached."""

    features: tuple[Matrix, ...]
    target: Vector
    points: tuple[Point, ...] = ()

    @property
    def kept(self) -> int:
        return len(self.features)

    def interval(self, weights: Weights) -> Interval:
        return rate_of_law(self.features, self.target, weights)


def squared_distance(features: Matrix, target: Vector) -> float:
    """The unbiased estimate U of the squared distance of a law from its target; it may be negative."""
    gaps = features - target
    total, count = gaps.sum(axis=0), len(gaps)
    return float((total @ total - np.sum(gaps**2)) / (count * (count - 1)))


def rate_of_law(
    features: Sequence[Matrix], target: Vector, weights: Weights, batches: int = FEWEST_BATCHES
) -> Interval:
    """The exponent of decay of the distance, by a jackknife that leaves one batch of draws out at a time.

    **Errors:** the noise in U must be small against U: it resolves about 0.2, so declare margins of a quarter.

    **Raises:** `Refusal` where some U is not positive: the distance is below the noise; `DesignError` for too few
    batches or a plan for something else.
    """
    plan = weights.plan
    if plan.target is not Target.EXPONENT or len(features) != len(plan.sizes):
        raise DesignError(
            f"{many(len(features), 'size')} of features met weights for the {plan.target} over {len(plan.sizes)}. "
            "The rate of a law is an exponent. Write target=Target.EXPONENT and one table of features per size."
        )
    fewest = min(map(len, features))
    if batches < FEWEST_BATCHES or fewest < 2 * batches:
        raise DesignError(
            f"{batches} batches of {many(fewest, 'draw')} were asked for. The spread of a logarithm of a squared distance is "
            f"read off batches of at least two draws each. Write at least {FEWEST_BATCHES} batches and "
            f"{many(2 * max(batches, FEWEST_BATCHES), 'draw')}."
        )
    pseudo = [
        _pseudo_logs(table, np.asarray(target, float), batches, size)
        for table, size in zip(features, plan.sizes, strict=True)
    ]
    if plan.policy is Policy.PAIRED:
        return paired(np.stack(pseudo, axis=1), weights.values, weights.bias.total)
    return independent(pseudo, weights.values, weights.bias.total)


def _pseudo_logs(table: Matrix, target: Vector, batches: int, size: float) -> Vector:
    """Pseudo-values of half the logarithm of U, one per batch; draws that fill no whole batch are left out."""
    each = len(table) // batches
    gaps = (table[: each * batches] - target).reshape(batches, each, -1)
    sums, squares = gaps.sum(axis=1), np.sum(gaps**2, axis=(1, 2))

    def half_log(total: Matrix, square: Vector, count: int) -> Vector:
        found = (np.sum(total**2, axis=-1) - square) / (count * (count - 1))
        if not (found > 0).all():
            raise Refusal(
                Reason.NUMERIC_FLOOR,
                f"At size {size:g} the squared distance from the target, less its noise, is not positive. The law is "
                "nearer than the draws can tell. Write smaller sizes or more draws.",
            )
        return 0.5 * np.log(found)

    whole = half_log(sums.sum(axis=0), squares.sum(), each * batches)
    without = half_log(sums.sum(axis=0) - sums, squares.sum() - squares, each * (batches - 1))
    return batches * whole - (batches - 1) * without
