r"""Convergence of a law: features at fixed frequencies, extrapolated over the sizes, their distance from the target.

Features are linear in the law: an expansion of the law in 1/n is one of them, so the weights of a limit extrapolate the
law itself. Whether a law *is* the limit at some finite size is never asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from theorax.decide.bias_aware import Weights, bias_of, spare_directions
from theorax.decide.designs import Plan, Policy, Target
from theorax.decide.equivalence import outcome, stands
from theorax.decide.gaussian_norm import NoiseNorm
from theorax.decide.law_features import distance
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Reading, Side
from theorax.decide.verdict import Point
from theorax.errors import DesignError, ObservationError
from theorax.names import many

__all__ = ["Averaged", "averaged", "decide_distance", "is_robust_law", "law_point", "misfit_law"]

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Averaged(Sequence[Matrix]):
    """Tables of features, one for each size, and what every set of weights needs of them: found once."""

    tables: tuple[Matrix, ...]

    def __len__(self) -> int:
        return len(self.tables)

    @overload
    def __getitem__(self, at: int) -> Matrix: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Matrix]: ...
    def __getitem__(self, at: int | slice) -> Matrix | Sequence[Matrix]:
        return self.tables[at]

    @cached_property
    def means(self) -> Matrix:
        """The mean features of every size."""
        return np.stack([table.mean(axis=0) for table in self.tables])

    @cached_property
    def covariances(self) -> tuple[Matrix, ...]:
        """The covariance of the mean features of every size."""
        return tuple(_covariance_of_mean(table) for table in self.tables)


def averaged(features: Sequence[Matrix]) -> Averaged:
    """These tables, with their means and covariances found once for all weights."""
    return features if isinstance(features, Averaged) else Averaged(tuple(features))


def decide_distance(
    features: Sequence[Matrix],
    target: Vector,
    weights: Weights,
    margin: float,
    levels: Levels = DEFAULT_LEVELS,
    reference: Matrix | None = None,
    reading: Reading = Reading.EXACT,
) -> Decision:
    r"""Decide "the law tends to the target" against "its limit is at least ``margin`` away".

    $d = \sum_i k_i \bar f_i - f_Q$; with $q$ the quantile of the norm of Gaussian noise of covariance
    $\sum_i k_i^2 \mathrm{Cov}_i / N_i$ (paired draws: that of the scores), supported iff $\|d\| + q + b <
    \text{margin}$ and refuted iff $\|d\| - q - b > 0$; under the margin reading, which claims a limit at most ``margin``
    away, iff $\|d\| - q - b > \text{margin}$. By the triangle inequality both errors are at most their level,
    and far below it. ``reference``: features of independent draws from the target, where it has no closed form; their
    mean takes its place and their covariance is added.

    **Errors:** the noise is taken as Gaussian with the sample's covariance, whose estimate needs many draws. Its tail is
    bounded from above (`NoiseNorm`), so a p-value of any size means what it says.
    """
    return _decided(_Extrapolated.of(features, target, weights, reference), weights.bias.total, margin, levels, reading)


def is_robust_law(
    decision: Decision, features: Sequence[Matrix], target: Vector, plan: Plan, reference: Matrix | None = None
) -> bool:
    """True if the status stands under the larger classes of `Corrections.redesigns`, each with weights of its own."""
    return stands(
        decision,
        plan,
        _again(decision, features, target, reference),
    )


def _again(
    decision: Decision, features: Sequence[Matrix], target: Vector, reference: Matrix | None
) -> Callable[[Weights], Decision]:
    """The decision on the same features from other weights."""
    margin, levels, reading = decision.margin, decision.levels, decision.reading
    return lambda weights: decide_distance(features, target, weights, margin, levels, reference, reading)


def law_point(size: float, features: Matrix, target: Vector) -> Point:
    """Distance of the mean features at one size; its standard error is that of the distance to first order."""
    gap = features.mean(axis=0) - target
    norm = distance(features.mean(axis=0), target)
    along = features @ (gap / norm) if norm else features[:, 0]
    return Point(float(size), norm, float(along.std(ddof=1) / math.sqrt(len(features))), len(features))


def misfit_law(features: Sequence[Matrix], plan: Plan, level: float = 0.01) -> bool:
    """True if the features contradict the declared class, whatever the limit: the gross-error alarm of `misfit`."""
    directions = spare_directions(plan)
    features = averaged(features)
    for direction in directions:
        weights = Weights(plan, tuple(map(float, direction)), bias_of(plan, direction))
        found = _Extrapolated.of(features, np.zeros(features[0].shape[1]), weights, None)
        radius, each = found.distance - weights.bias.total, level / len(directions)
        # Paley and Zygmund: E Q^2 <= 3 (E Q)^2, so P(Q >= 0.8 E Q) >= 0.2^2 / 3, above any level in use: no tail needed.
        if radius <= math.sqrt(0.8) * found.se and each < 0.04 / 3:
            continue
        if found.noise.p(radius) <= each:
            return True
    return False


@dataclass(frozen=True)
class _Extrapolated:
    """The distance of the extrapolated features from the target, and the law of the noise in it."""

    distance: float
    noise: NoiseNorm
    se: float

    @classmethod
    def of(
        cls, features: Sequence[Matrix], target: Vector, weights: Weights, reference: Matrix | None
    ) -> _Extrapolated:
        plan = weights.plan
        if plan.target is not Target.LIMIT or len(features) != len(plan.sizes):
            raise DesignError(
                f"{many(len(features), 'size')} of features met weights for the {plan.target} over {len(plan.sizes)}. "
                "A law is extrapolated as a limit. Write target=Target.LIMIT and one table of features per size."
            )
        k = weights.vector
        if reference is not None:
            target = reference.mean(axis=0)
        features = averaged(features)
        gap = k @ features.means - np.asarray(target, float)
        if plan.policy is Policy.DETERMINISTIC:
            covariance = np.zeros((gap.size, gap.size))
        elif plan.policy is Policy.PAIRED:
            combined = sum(weight * table for weight, table in zip(k, features, strict=True))
            covariance = _covariance_of_mean(np.asarray(combined))
        else:
            parts = zip(k, features.covariances, strict=True)
            covariance = sum((weight**2 * each for weight, each in parts), np.zeros(()))
        if reference is not None:
            covariance = covariance + _covariance_of_mean(reference)
        return cls(
            float(np.linalg.norm(gap)), NoiseNorm.of(covariance), math.sqrt(max(0.0, float(np.trace(covariance))))
        )


def _decided(found: _Extrapolated, bias: float, margin: float, levels: Levels, reading: Reading) -> Decision:
    size = found.distance
    q_support = found.noise.quantile(levels.support)  # by bisection: once, where the levels are equal
    q_refute = q_support if levels.refute == levels.support else found.noise.quantile(levels.refute)
    return outcome(
        supporting=margin - size - q_support,
        refuting=size - q_refute,
        p_support=found.noise.p(margin - bias - size),
        p_refute=found.noise.p(size - bias - reading.forgives(margin)),
        radius=q_support,
        estimate=size,
        se=found.se,
        df=math.inf,
        bias=bias,
        lower=max(0.0, size - q_support - bias),
        upper=size + q_support + bias,
        claimed=0.0,
        margin=margin,
        side=Side.EQUAL,
        levels=levels,
        reading=reading,
    )


def _covariance_of_mean(table: Matrix) -> Matrix:
    if len(table) < 2:
        raise ObservationError("One draw of a law has no spread. Write at least two draws at every size.")
    return np.atleast_2d(np.cov(table, rowvar=False)) / len(table)
