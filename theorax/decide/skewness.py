r"""Student's interval when support rests on it: what is left of the skewness of the draws in their mean.

A mean $\bar x = \sum_i k_i \bar x_i$ with standard error $s$ and third cumulant $\kappa_3$ has the skewness
$\gamma = \kappa_3 / s^3$; for one column of $n$ draws it is theirs over $\sqrt n$. Student's t is off by the order of
$\gamma$, and a sample without its rare large draws shows neither. Support therefore asks more than one interval:

| size of gamma | limits that must all lie within the margin |
|---|---|
| below d | Student's; Hall's, which allow for gamma; Student's without the draw farthest from the median |
| d to 0.3 | the same, Hall's at twice the quantile of t |
| 0.3 and above | none: support is withheld |

Here d is 0.1 and what normal draws exceed once in twenty times on a side by chance, 1.64 standard deviations of their
gamma: $1.64 \sqrt 6 / n$ for one column, 0.04 at 100 draws. Without it a seventh of normal samples of 32 draws would
be taken for skewed ones. The steps are measured (`benchmarks/calibration/tails.py`): Hall's limits alone support what
is false by the margin in 7 to 14 % of samples of log-normal and Pareto laws where 2.5 % is stated.

**Source:** Hall 1992 (removal of skewness by a monotone cubic).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from theorax.decide.status import Decision, Reason, Status
from theorax.decide.verdict import Assumption, Standing

__all__ = ["DOUBTED", "REFUSED", "Farther", "Limits", "Skewed", "skewed_of", "told_of_tails", "with_tails"]

Vector = NDArray[np.float64]

DOUBTED, REFUSED = 0.1, 0.3
CHANCE = 1.645  # of the normal law at 0.05
WIDENED = 2.0  # the factor of the quantile between the two


class Limits(Protocol):
    """One-sided limits of a mean, and the p-values that go with them."""

    def p_above(self, value: float) -> float: ...

    def p_below(self, value: float) -> float: ...

    def lower(self, level: float) -> float: ...

    def upper(self, level: float) -> float: ...


@dataclass(frozen=True)
class Farther:
    """Two sets of limits, of which the farther ones count."""

    one: Limits
    other: Limits

    def p_above(self, value: float) -> float:
        return max(self.one.p_above(value), self.other.p_above(value))

    def p_below(self, value: float) -> float:
        return max(self.one.p_below(value), self.other.p_below(value))

    def lower(self, level: float) -> float:
        return min(self.one.lower(level), self.other.lower(level))

    def upper(self, level: float) -> float:
        return max(self.one.upper(level), self.other.upper(level))


@dataclass(frozen=True)
class Skewed:
    """Mean with a known skewness, and the same mean without its farthest draw: limits and p-values that allow for both.

    ``noise``: the standard deviation that gamma has for as many normal draws.
    ``without``: estimate, standard error and degrees of freedom of the rest; None where too few draws are left.
    """

    estimate: float
    se: float
    df: float
    gamma: float
    noise: float
    without: tuple[float, float, float] | None

    def p_above(self, value: float) -> float:
        """The largest p-value of "the mean is at most ``value``"."""
        return self._p(value, 1)

    def p_below(self, value: float) -> float:
        """The largest p-value of "the mean is at least ``value``"."""
        return self._p(value, -1)

    def lower(self, level: float) -> float:
        """The smallest of the lower limits."""
        return self._limit(level, 1)

    def upper(self, level: float) -> float:
        """The largest of the upper limits."""
        return self._limit(level, -1)

    @property
    def _width(self) -> float:
        """By how much the quantile of t is widened; infinite where no limit is believed."""
        if abs(self.gamma) >= REFUSED or self.without is None:
            return math.inf
        return WIDENED if abs(self.gamma) >= DOUBTED + CHANCE * self.noise else 1.0

    def _p(self, value: float, sign: int) -> float:
        if self.without is None or math.isinf(width := self._width):
            return 1.0
        middle, error, df = self.without
        hall = float(stdtr(self.df, -sign * _straightened((self.estimate - value) / self.se, self.gamma) / width))
        if error == 0:
            return max(hall, float(sign * (middle - value) <= 0))
        return max(hall, float(stdtr(df, -sign * (middle - value) / error)))

    def _limit(self, level: float, sign: int) -> float:
        if self.without is None or math.isinf(width := self._width):
            return -sign * math.inf
        middle, error, df = self.without
        quantile = sign * width * float(stdtrit(self.df, 1 - level))
        hall = self.estimate - self.se * _bent(quantile, self.gamma)
        rest = middle - sign * float(stdtrit(df, 1 - level)) * error
        return min(hall, rest) if sign > 0 else max(hall, rest)


def skewed_of(columns: Sequence[Vector], weights: Sequence[float]) -> Skewed | None:
    """The weighted mean of independent columns as `Skewed`; None where the draws have no spread.

    Farthest is the draw whose distance from the median of its column moves the weighted mean the most.
    """
    k, counts = np.asarray(weights, float), np.array([len(column) for column in columns])
    # In a unit of the draws' own, a power of two: squares and cubes of draws near 1e-150 would be zero.
    spread = max(float(np.abs(column - np.median(column)).max()) for column in columns)
    unit = math.ldexp(1.0, math.frexp(spread)[1]) if math.isfinite(spread) else 1.0
    columns = [column / unit for column in columns]
    means = np.array([column.mean() for column in columns])
    parts = np.array([_variance_of_mean(column) for column in columns])
    total = float(k**2 @ parts)
    if not total > 0 or not math.isfinite(total):
        return None
    third = np.array([float(np.mean((column - mean) ** 3)) for column, mean in zip(columns, means, strict=True)])
    gamma = float(k**3 @ (third / counts**2)) / total**1.5
    # The third central moment of n normal draws has the variance 6 sigma^6 / n.
    noise = math.sqrt(6 * float(np.sum((k**2 * parts) ** 3 / counts**2))) / total**1.5
    far = [np.abs(column - np.median(column)) for column in columns]
    moved = np.abs(k) / counts * np.array([float(distance.max()) for distance in far])
    at = int(np.argmax(moved))
    df = _degrees(k, parts, counts)
    without = None
    if counts[at] >= 3:
        rest = np.delete(columns[at], int(np.argmax(far[at])))
        fewer, others = parts.copy(), means.copy()
        fewer[at], others[at] = _variance_of_mean(rest), rest.mean()
        left = counts - (np.arange(len(k)) == at)
        without = unit * float(k @ others), unit * math.sqrt(float(k**2 @ fewer)), _degrees(k, fewer, left)
    return Skewed(unit * float(k @ means), unit * math.sqrt(total), df, gamma, noise, without)


def told_of_tails(decision: Decision) -> str:
    """The sentence of a support that was withheld for the tails; empty for every other decision."""
    if decision.reason is not Reason.TAILS or decision.skewness is None:
        return ""
    remedy = "Draw more, declare a range or a variance, or ask for a quantile or the mean of a logarithm"
    if decision.skewness >= REFUSED:
        return (
            f"the mean of these draws has a skewness of {decision.skewness:.2g}: from {REFUSED:g} on the limits of "
            f"Student's t are not believed. {remedy}"
        )
    return (
        f"Student's limits lie within the margin, those that allow for the skewness of the mean "
        f"({decision.skewness:.2g}) or leave out its farthest draw do not. {remedy}"
    )


def with_tails(line: Assumption, decision: Decision) -> Assumption:
    """A line of the ledger about light tails, as tested where the decision's support has passed what is asked here."""
    if line.kind != "moment" or decision.status is not Status.SUPPORTED or decision.skewness is None:
        return line
    passed = (
        f". Limits that allow for the skewness of the mean ({decision.skewness:.2g}), or leave out the farthest draw, "
        "agree"
    )
    return replace(line, text=line.text + passed, checked=Standing.TESTED)


def _straightened(t: float, gamma: float) -> float:
    """Hall's cubic of Student's ratio, which is normal up to second order; it grows with t."""
    return t + gamma * t**2 / 3 + gamma**2 * t**3 / 27 + gamma / 6


def _bent(x: float, gamma: float) -> float:
    """The ratio of which `_straightened` makes x."""
    if abs(gamma) < 2.0**-26:  # what the cube root would lose by cancellation is larger than what it adds
        return x
    return 3 / gamma * float(np.cbrt(1 + gamma * (x - gamma / 6)) - 1)


def _variance_of_mean(column: Vector) -> float:
    """The estimated variance of the mean; zero for equal values, whatever their mean rounds to."""
    return 0.0 if (column == column[0]).all() else float(column.var(ddof=1)) / len(column)


def _degrees(k: Vector, parts: Vector, counts: NDArray[np.intp]) -> float:
    """Welch-Satterthwaite degrees of freedom; the draws less one for a single column."""
    each = k**2 * parts
    total = float(each.sum())
    return total**2 / float(np.sum(each**2 / (counts - 1))) if total > 0 else float(counts.min() - 1)
