r"""One estimate and its tests: how low or high the mean can be, and how surprising the data are under a given mean.

The tests speak of the mean of what was averaged, without the bias of finite-size corrections; `decide` adds that. Which
interval is valid follows from what is *declared* about the moments, never from the look of the data.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, stdtr, stdtrit

from theorax.decide.skewness import Farther, Limits, Skewed, skewed_of

__all__ = ["TUNED_LEVEL", "Betting", "Catoni", "Interval", "Proportion", "Student", "last_rejected"]

Vector = NDArray[np.float64]

# The level for which the bets of `Betting` and the truncation of `Catoni` are tuned. Every other level stays valid: the
# evidence against a mean is one number, whatever level it is held against.
TUNED_LEVEL = 0.025

# Below every level that a suite of claims can ask for (Holm at 0.01 over 10^6 claims asks for 1e-8).
_NO_LEVEL = 1e-12


@dataclass(frozen=True)
class Interval(ABC):
    """An estimate, its standard error and degrees of freedom, and its tests.

    ``bias`` is the worst bias of the declared class, ``rounding`` a bound of the rounding in forming the estimate; the
    tests below are of the statistical error alone.

    **Laws:** both limits move outward as the level falls, and ``p_above(v) <= a`` iff ``v <= lower(a)``, likewise
    above, up to the accuracy of the limit.
    """

    estimate: float
    se: float
    df: float
    bias: float
    rounding: float

    @abstractmethod
    def p_above(self, value: float) -> float:
        """The p-value of "the mean is at most ``value``": small when the data lie above."""

    @abstractmethod
    def p_below(self, value: float) -> float:
        """The p-value of "the mean is at least ``value``": small when the data lie below."""

    @abstractmethod
    def lower(self, level: float) -> float:
        """The mean lies below this with probability at most ``level``."""

    @abstractmethod
    def upper(self, level: float) -> float:
        """The mean lies above this with probability at most ``level``."""

    @property
    def for_support(self) -> Limits:
        """Limits and p-values that support is held against: no nearer than the interval's own."""
        return self

    @property
    def for_refutation(self) -> Limits:
        """Limits and p-values that refutation is held against: no nearer than the interval's own."""
        return self

    def radius(self, level: float) -> float:
        """The larger of the two distances between the estimate and its one-sided limits."""
        return max(self.estimate - self.lower(level), self.upper(level) - self.estimate)

    def p(self, distance: float) -> float:
        """The larger one-sided p-value of a mean this far from the estimate."""
        return max(self.p_above(self.estimate - distance), self.p_below(self.estimate + distance))


@dataclass(frozen=True)
class Student(Interval):
    """Student's t; with a standard error of zero the error is zero, and p is 0 or 1 by the sign.

    ``columns``: independent samples of which the estimate is the mean, weighted by ``weights``. Support is held against
    the limits that allow for their skewness as well (`theorax.decide.skewness`). So is refutation where the draws are
    ``corrected`` by variates: a skewed variate makes skewed numbers of draws that are not.
    """

    columns: tuple[Vector, ...] = field(default=(), repr=False, compare=False)
    weights: tuple[float, ...] = field(default=(), repr=False, compare=False)
    corrected: bool = field(default=False, repr=False)

    @cached_property
    def skewed(self) -> Skewed | None:
        """The same mean with its skewness; None where the interval is not made of draws with a spread."""
        return skewed_of(self.columns, self.weights) if self.columns and self.se else None

    @property
    def for_support(self) -> Limits:
        return self if self.skewed is None else Farther(self, self.skewed)

    @property
    def for_refutation(self) -> Limits:
        return self.for_support if self.corrected else self

    def p_above(self, value: float) -> float:
        if self.se == 0:
            return 0.0 if self.estimate > value else 1.0
        return float(stdtr(self.df, (value - self.estimate) / self.se))

    def p_below(self, value: float) -> float:
        if self.se == 0:
            return 0.0 if self.estimate < value else 1.0
        return float(stdtr(self.df, (self.estimate - value) / self.se))

    def lower(self, level: float) -> float:
        return self.estimate - self._half(level)

    def upper(self, level: float) -> float:
        return self.estimate + self._half(level)

    def _half(self, level: float) -> float:
        return float(stdtrit(self.df, 1 - level)) * self.se if self.se else 0.0


@dataclass(frozen=True)
class Proportion(Interval):
    """Clopper-Pearson for data that take two values only; ``undecided`` ones may be either, whichever is worse."""

    successes: int
    draws: int
    low: float
    high: float
    undecided: int = 0

    def p_above(self, value: float) -> float:
        share = self._share(value)
        if self.successes == 0 or share >= 1:
            return 1.0
        return 0.0 if share <= 0 else float(betainc(self.successes, self.draws - self.successes + 1, share))

    def p_below(self, value: float) -> float:
        share, failures = 1 - self._share(value), self._failures
        if failures == 0 or share >= 1:
            return 1.0
        return 0.0 if share <= 0 else float(betainc(failures, self.draws - failures + 1, share))

    def lower(self, level: float) -> float:
        if self.successes == 0:
            return self.low
        return self._value(float(betaincinv(self.successes, self.draws - self.successes + 1, level)))

    def upper(self, level: float) -> float:
        failures = self._failures
        if failures == 0:
            return self.high
        return self._value(1 - float(betaincinv(failures, self.draws - failures + 1, level)))

    @property
    def _failures(self) -> int:
        return self.draws - self.successes - self.undecided

    def _share(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)

    def _value(self, share: float) -> float:
        return self.low + share * (self.high - self.low)


@dataclass(frozen=True)
class _Evidence(Interval):
    """Intervals by inversion: one e-value for every null, monotone in the null; 1/e is its p-value."""

    values: Vector = field(repr=False, compare=False)

    def lower(self, level: float) -> float:
        bottom, top = self._bracket()
        return last_rejected(self.p_above, bottom, top, level)

    def upper(self, level: float) -> float:
        bottom, top = self._bracket()
        return last_rejected(self.p_below, top, bottom, level)

    @abstractmethod
    def _bracket(self) -> tuple[float, float]:
        """Values below and above every limit."""


@dataclass(frozen=True)
class Betting(_Evidence):
    r"""Betting against a mean of data in [low, high]: the wealth $\prod_i (1 + \lambda_i (x_i - m))$ at its largest.

    $\lambda_i$ depends on earlier draws only, so the wealth is a supermartingale under every mean up to $m$ and, by
    Ville's inequality, its maximum passes $1/\alpha$ with probability at most $\alpha$, wherever one stops looking. As
    $\lambda_i = \min(c_i, 1/(2m))$ makes every factor fall in $m$, so does the wealth.

    **Source:** Waudby-Smith and Ramdas 2024.
    """

    low: float
    high: float

    def p_above(self, value: float) -> float:
        return self._ruin(self._unit, (value - self.low) / (self.high - self.low))

    def p_below(self, value: float) -> float:
        return self._ruin(1 - self._unit, (self.high - value) / (self.high - self.low))

    @cached_property
    def _unit(self) -> Vector:
        return (self.values - self.low) / (self.high - self.low)

    @cached_property
    def _bets(self) -> Vector:
        """The uncapped bets; those against a mean from above are the same, for the prior is symmetric."""
        x, seen = self._unit, np.arange(1, len(self.values) + 1)
        means = (0.5 + np.cumsum(x)) / (1 + seen)
        variances = (0.25 + np.cumsum((x - means) ** 2)) / (1 + seen)
        before = np.concatenate([[0.25], variances[:-1]])
        return np.sqrt(2 * math.log(1 / TUNED_LEVEL) / (before * seen * np.log1p(seen)))

    def _ruin(self, x: Vector, mean: float) -> float:
        if mean >= 1:
            return 1.0
        if mean <= 0:  # a mean of zero means that every draw is zero
            return 0.0 if mean < 0 or bool((x > 0).any()) else 1.0
        wealth = np.cumsum(np.log1p(np.minimum(self._bets, 0.5 / mean) * (x - mean)))
        return min(1.0, math.exp(-max(0.0, float(wealth.max()))))

    def _bracket(self) -> tuple[float, float]:
        return self.low, self.high


@dataclass(frozen=True)
class Catoni(_Evidence):
    r"""Catoni's truncated sums for data of variance at most $v$, however heavy their tails.

    With $\psi(y) = \operatorname{sgn}(y) \log(1 + |y| + y^2/2)$ and any fixed $a$, a mean of at most $t$ gives
    $E \exp \psi(a (x - t)) \le 1 + a^2 v/2$; hence $e = \prod_i e^{\psi(a (x_i - t))} / (1 + a^2 v/2)$ has mean at most
    one.

    **Source:** Catoni 2012; Wang and Ramdas 2023 (as an e-value).
    """

    variance: float

    def p_above(self, value: float) -> float:
        return self._surprise(self.values - value)

    def p_below(self, value: float) -> float:
        return self._surprise(value - self.values)

    def _surprise(self, deviations: Vector) -> float:
        scale = _truncation(len(deviations), self.variance)
        threshold = len(deviations) * math.log1p(scale**2 * self.variance / 2)
        log_evidence = float(_influence(scale * deviations).sum()) - threshold
        return min(1.0, math.exp(-max(log_evidence, 0.0)))

    def _bracket(self) -> tuple[float, float]:
        # The evidence grows without bound outside the data: double the distance until it passes any level in use.
        reach = float(np.ptp(self.values)) + math.sqrt(self.variance)
        while max(self.p_above(self.estimate - reach), self.p_below(self.estimate + reach)) > _NO_LEVEL:
            reach *= 2
        return self.estimate - reach, self.estimate + reach

    @staticmethod
    def centre(values: Vector, variance: float) -> float:
        """The mean that neither side speaks against: the root of the truncated sum, which falls in the mean."""
        scale = _truncation(len(values), variance)
        bottom, top = float(values.min()), float(values.max())
        for _ in range(60):  # sixty halvings reach the spacing of the floats
            middle = (bottom + top) / 2
            bottom, top = (middle, top) if _influence(scale * (values - middle)).sum() > 0 else (bottom, middle)
        return (bottom + top) / 2


def _influence(y: Vector) -> Vector:
    """Catoni's psi."""
    return np.sign(y) * np.log1p(np.abs(y) + y**2 / 2)


def _truncation(draws: int, variance: float) -> float:
    level = math.log(1 / TUNED_LEVEL)
    return math.sqrt(2 * level / (draws * variance * (1 + 2 * level / (draws - 2 * level))))


def last_rejected(p: Callable[[float], float], outside: float, inside: float, level: float) -> float:
    """Distance from ``outside`` towards ``inside`` the null is rejected: the rejected end of the bracket."""
    if p(outside) > level:
        return outside
    for _ in range(60):  # sixty halvings reach the spacing of the floats
        middle = (outside + inside) / 2
        outside, inside = (middle, inside) if p(middle) <= level else (outside, middle)
    return outside
