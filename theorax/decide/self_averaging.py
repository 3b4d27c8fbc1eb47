r"""Test that the law of a sample is that of one draw: the scatter of its characteristic function over the draws vanishes.

A draw holds many values; $f$ are the features of their empirical law. With $v_n = E \|f - E f\|^2$ at size n, "the empirical
law of one draw tends to the claimed law" needs $v_n \to 0$; means over the draws show $E f$ alone, to which 64 copies of one
normal number contribute as well as 64 normal numbers. What is shown is that the share $v_\infty$ that does not fall is
below the square of the law's margin: then the empirical law of one draw lies within the margin of its mean, in the root
mean square of D.

Two upper limits are tried, each at half of the level: that of $v_n$ at the largest size, which is one of $v_\infty$ as long
as $v_n$ does not grow; and that of the limit of $v_n = v_\infty + c/n + O(v_{n_0} (n_0/n)^2)$.

**Errors:** $\|f - \bar f\|^2$ is skewed, and Student's limits err for it as they do for a chi-square: the rates are in
`benchmarks/results/calibration_sample_laws.txt`. The size of the last term is the mean at the smallest size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from theorax.decide.bias_aware import solve_weights
from theorax.decide.corrections import Expansion
from theorax.decide.designs import FEWEST_SIZES, Plan, Policy, Target

__all__ = ["Scatter", "scatter_of"]

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Scatter:
    """Root mean square scatter of the empirical law over draws, in units of D: at every size, and a limit of what stays."""

    at_sizes: tuple[float, ...]
    at_most: float

    def vanishes_within(self, margin: float) -> bool:
        """True if the share that does not fall is shown to be below the margin."""
        return self.at_most < margin


def scatter_of(features: Sequence[Matrix], sizes: Sequence[float], policy: Policy, level: float) -> Scatter:
    """The scatter of the features of draws (one table ``draws x features`` for each size), at this level."""
    squares = [_squared_deviations(table) for table in features]
    at_sizes = tuple(math.sqrt(float(part.mean())) for part in squares)
    limits = [_upper(squares[-1], level / 2)]
    if len(sizes) >= FEWEST_SIZES and squares[0].mean() > 0:
        limits.append(_extrapolated(squares, sizes, policy, level / 2))
    return Scatter(at_sizes, math.sqrt(max(0.0, min(limits))))


def _squared_deviations(table: Matrix) -> Vector:
    """Squared distance of every draw's features from their mean, whose own average is the unbiased variance."""
    draws = len(table)
    squares: Vector = ((table - table.mean(axis=0)) ** 2).sum(axis=1)
    return squares * (draws / (draws - 1))


def _upper(values: Vector, level: float) -> float:
    radius = float(stdtrit(len(values) - 1, 1 - level)) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()) + radius


def _extrapolated(squares: Sequence[Vector], sizes: Sequence[float], policy: Policy, level: float) -> float:
    first = float(squares[0].mean())
    spreads = tuple(float(part.std(ddof=1)) for part in squares)
    allowed = Expansion((1,), rest=first, order=2, reason="variances of averages expand in 1/n")
    plan = Plan(
        sizes=tuple(sizes),
        corrections=allowed.anchored(sizes[0]),
        target=Target.LIMIT,
        sd=spreads,
        draws=tuple(map(len, squares)),
        policy=Policy.INDEPENDENT,
    )
    weights = solve_weights(plan)
    k = weights.vector
    estimate = float(k @ [part.mean() for part in squares])
    if policy is Policy.PAIRED:
        scores = np.asarray(sum(weight * part for weight, part in zip(k, squares, strict=True)))
        se, df = float(scores.std(ddof=1)) / math.sqrt(len(scores)), float(len(scores) - 1)
    else:
        se, df = weights.se, weights.df
    return estimate + weights.bias.total + float(stdtrit(df, 1 - level)) * se
