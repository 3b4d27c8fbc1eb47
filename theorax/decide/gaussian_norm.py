r"""The norm of Gaussian noise of a given covariance: its tail and its quantiles, with a bound of their error.

The squared norm is $Q = \sum_j \lambda_j Z_j^2$ with the eigenvalues $\lambda_j$. With
$\theta(u) = \frac12 \sum_j \arctan(2 \lambda_j u) - u x$ and $\rho(u) = \prod_j (1 + 4 \lambda_j^2 u^2)^{1/4}$,

$$P(Q > x) \approx \frac12 + \frac1\pi \sum_{k=0}^{K} \frac{\sin \theta(u_k)}{(k + \frac12)\,\rho(u_k)},
  \qquad u_k = (k + \tfrac12) \Delta,$$

errs by at most $P(Q > x + 2\pi/\Delta)$ as long as $x \le 2\pi/\Delta$, by what is cut off behind $u_K$, and by rounding.
The first is held below $10^{-13}$ by Chernoff's bound; the second is, for few eigenvalues, what the largest number of
terms leaves. Every bound is added, and two others are tried: Chernoff's own, and the chi-square law that all eigenvalues
at the largest would give. The least of the three is returned, so a p-value is never too small.

**Source:** Imhof 1961; Davies 1973; Davies 1980 (the bounds).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

__all__ = ["NoiseNorm", "Shape", "shape_of_covariance"]

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

_WRAPPED = 1e-13  # what the sum may miss beyond its period
_CUT = 1e-9  # what it should miss behind its last term
_MOST_TERMS = 2**15  # a few milliseconds for forty eigenvalues

_NEAR = 1e-6  # of a quantile


class _Crossing:
    """The crossing of a level by a falling tail, which is above it up to ``above`` and no longer from ``below`` on.

    A tail is a sum of thousands of terms; a bisection asks only for what no earlier answer implies.
    """

    def __init__(self, p: Callable[[float], float], level: float) -> None:
        self._p, self._level = p, level
        self.above, self.below = 0.0, math.inf
        self._excess = {0.0: -math.log(level)}

    def is_above(self, radius: float) -> bool:
        """True if the tail at this radius is above the level."""
        if self.above < radius < self.below:
            p = self._p(radius)
            self._excess[radius] = math.log(max(p, 1e-300) / self._level)
            if p > self._level:
                self.above = radius
            else:
                self.below = radius
        return radius <= self.above

    def narrow(self) -> None:
        """Bring both ends together by secants: the logarithm of a tail is nearly a line in the square of the radius."""
        for _ in range(12):
            if self.below - self.above <= _NEAR / 2 * self.below:
                return
            first, last = self._excess[self.above], self._excess[self.below]
            if not first > last:
                return
            share = first / (first - last)
            square = self.above**2 + share * (self.below**2 - self.above**2)
            # Beyond the crossing as seen from the end that is nearer, so that the other end moves too.
            beyond = 1 + _NEAR / 5 * (1 if share < 0.5 else -1)
            self.is_above(math.sqrt(square) * beyond)


@dataclass(frozen=True)
class NoiseNorm:
    """The law of the norm of a centred Gaussian vector with these eigenvalues of the covariance, largest first."""

    eigenvalues: Vector = field(repr=False, compare=False)

    @classmethod
    def of(cls, covariance: Matrix) -> NoiseNorm:
        """From a covariance; eigenvalues below the rounding of the largest carry no noise that could be told from it."""
        values: Vector = np.linalg.eigvalsh(np.atleast_2d(covariance)).astype(np.float64)[::-1]
        return cls(values[values > max(float(values[0]), 0.0) * len(values) * 2.0**-52])

    @property
    def largest(self) -> float:
        """The largest eigenvalue; zero without noise."""
        return float(self.eigenvalues[0]) if self.eigenvalues.size else 0.0

    def p(self, radius: float) -> float:
        """An upper bound of the probability of a norm of at least this radius; one at and below zero.

        **Errors:** never below the truth; above it by 2e-9 where the noise has six directions of comparable size, by
        1e-6 where it has three.
        """
        if radius <= 0:
            return 1.0
        if not self.eigenvalues.size:
            return 0.0
        x = (radius / math.sqrt(self.largest)) ** 2
        bound = min(float(chdtrc(len(self._unit), x)), math.exp(self._chernoff(x)))
        if x >= self._period or len(self._unit) == 1:  # the chi-square law of one eigenvalue is its own
            return bound
        angles, terms, u, error = self._grid
        total = float(np.sin(angles - u * x) @ terms)
        return min(bound, max(0.0, 0.5 + total / math.pi) + error)

    def quantile(self, level: float) -> float:
        """The smallest radius, to a millionth of itself, whose p is at most the level."""
        if not self.eigenvalues.size:
            return 0.0
        tail = _Crossing(self.p, level)
        low, high = 0.0, math.sqrt(self.largest)
        while tail.is_above(high):
            low, high = high, 2 * high
        tail.narrow()
        while high - low > _NEAR * high:
            middle = (low + high) / 2
            low, high = (middle, high) if tail.is_above(middle) else (low, middle)
        return high

    @cached_property
    def _unit(self) -> Vector:
        """The eigenvalues in units of the largest."""
        return self.eigenvalues / self.largest

    @cached_property
    def _period(self) -> float:
        """Smallest period at which Chernoff's bound of the tail falls below the allowed error."""
        low, high = 1.0, 2.0
        while self._chernoff(high) > math.log(_WRAPPED):
            low, high = high, 2 * high
        for _ in range(20):
            middle = (low + high) / 2
            low, high = (middle, high) if self._chernoff(middle) > math.log(_WRAPPED) else (low, middle)
        return high

    def _chernoff(self, x: float) -> float:
        """log of the least of exp(-s x) E exp(s Q) over a grid of s, each of which is a bound."""
        s = np.linspace(0, 0.5, 129)[:-1]
        return float(np.min(self._cumulants - s * x))

    @cached_property
    def _cumulants(self) -> Vector:
        s = np.linspace(0, 0.5, 129)[:-1]
        return -0.5 * np.log1p(-2 * np.outer(s, self._unit)).sum(axis=1)

    @cached_property
    def _grid(self) -> tuple[Vector, Vector, Vector, float]:
        """The part of the angles without x, one over (k + 1/2) rho, the arguments u, and the bound of the error."""
        step, unit = 2 * math.pi / self._period, self._unit
        last, cut = self._last(step)
        u: Vector = ((np.arange(last) + 0.5) * step).astype(np.float64)
        angles, decay = np.zeros(last), np.zeros(last)
        for value in unit:
            angles += 0.5 * np.arctan(2 * value * u)
            decay += 0.25 * np.log1p((2 * value * u) ** 2)
        terms = np.exp(-decay) / (np.arange(last) + 0.5)
        # The angle's rounding is that of u x, at most u times the period; each term carries it.
        rounding = 2.0**-52 * float(np.abs(terms) @ (u * self._period + len(unit) + 8)) / math.pi
        return angles, terms, u, _WRAPPED + cut + rounding

    def _last(self, step: float) -> tuple[int, float]:
        r"""Number of terms to sum, and a bound of the remainder.

        With the s largest eigenvalues, $\rho(u) \ge \prod_{j \le s} (2 \lambda_j u)^{1/2}$, so the rest is at most
        $\frac{2}{\pi s} \prod_{j \le s} (2 \lambda_j u)^{-1/2}$; the best s is taken. One step back bounds the sum by its
        integral.
        """
        logs = np.cumsum(np.log(2 * self._unit))
        count = np.arange(1, len(logs) + 1)
        terms = 32
        while True:
            terms = min(5 * terms // 4, _MOST_TERMS)
            at = math.log((terms - 1) * step)
            rest = math.exp(float(np.min(np.log(2 / (math.pi * count)) - 0.5 * (logs + count * at))))
            if rest <= _CUT or terms >= _MOST_TERMS:
                return terms, rest


@dataclass(frozen=True)
class Shape:
    """The noise of one draw's features: its root mean square, and the eigenvalues of its covariance over their sum."""

    sd: float
    eigenvalues: tuple[float, ...] = (1.0,)

    @cached_property
    def norm(self) -> NoiseNorm:
        """The norm of noise of this shape and root mean square one."""
        return NoiseNorm(np.asarray(self.eigenvalues))

    def quantile(self, level: float) -> float:
        """The quantile of that norm, found once for each level."""
        if level not in self._quantiles:
            self._quantiles[level] = self.norm.quantile(level)
        return self._quantiles[level]

    @cached_property
    def _quantiles(self) -> dict[float, float]:
        return {}


def shape_of_covariance(covariance: Matrix) -> Shape:
    """The shape of this covariance of one draw's features."""
    noise = NoiseNorm.of(covariance)
    total = float(noise.eigenvalues.sum())
    if total == 0:
        return Shape(0.0)
    return Shape(math.sqrt(total), tuple(float(value) for value in noise.eigenvalues / total))
