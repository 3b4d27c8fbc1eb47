r"""Evidence about a probability that stays valid however often it is asked for: a mixture of bets, as e-values.

Over the probabilities $q$ on the alternative's side $A$ of a boundary $p$,

$$e_t = \frac{1}{\pi(A)} \int_A \Bigl(\frac qp\Bigr)^{S} \Bigl(\frac{1-q}{1-p}\Bigr)^{t-S} d\pi(q),
  \qquad \pi = \mathrm{Beta}(\tfrac12, \tfrac12),$$

is a supermartingale under every probability beyond the boundary: by Ville's inequality it ever passes $1/\alpha$ with
probability at most $\alpha$.

**Source:** Robbins 1970 (mixtures); Howard et al. 2021.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc, betaln

from theorax.decide.interval import Interval, last_rejected

__all__ = ["Mixture", "log_evidence"]

Vector = NDArray[np.float64]


def log_evidence(successes: ArrayLike, draws: ArrayLike, boundary: float, above: bool) -> Vector:
    r"""The logarithm of the mixture's e-value against "the probability lies on the other side of the boundary".

    ``above``: the alternative is $q > p$. $\log e = \log B(S + \frac12, t - S + \frac12) - \log B(\frac12, \frac12)
    + \log P_{\mathrm{post}}(A) - \log P_{\mathrm{prior}}(A) - S \log p - (t - S) \log(1 - p)$.

    **Errors:** at a million draws the terms are of order $10^7$ and cancel: about $10^{-8}$ of the logarithm.
    """
    s, t = np.asarray(successes, float), np.asarray(draws, float)
    a, b = s + 0.5, t - s + 0.5
    posterior = _log_upper(a, b, boundary) if above else _log_upper(b, a, 1 - boundary)
    prior = math.log(betaincc(0.5, 0.5, boundary) if above else betainc(0.5, 0.5, boundary))
    likelihood = _times_log(s, boundary) + _times_log(t - s, 1 - boundary)
    return betaln(a, b) - math.log(math.pi) + posterior - prior - likelihood


@dataclass(frozen=True)
class Mixture(Interval):
    """A confidence sequence at one time: nulls are held against the beta mixture's e-value, p is min(1, 1/e)."""

    successes: int
    draws: int
    undecided: int = 0

    def p_above(self, value: float) -> float:
        if value >= 1:
            return 1.0
        if value <= 0:
            return 0.0 if value < 0 or self.successes else 1.0
        return _p_of(log_evidence(self.successes, self.draws, value, above=True))

    def p_below(self, value: float) -> float:
        possible = self.successes + self.undecided
        if value <= 0:
            return 1.0
        if value >= 1:
            return 0.0 if value > 1 or possible < self.draws else 1.0
        return _p_of(log_evidence(possible, self.draws, value, above=False))

    def lower(self, level: float) -> float:
        return last_rejected(self.p_above, 0.0, self.successes / max(1, self.draws), level)

    def upper(self, level: float) -> float:
        return last_rejected(self.p_below, 1.0, (self.successes + self.undecided) / max(1, self.draws), level)


def _p_of(logarithm: Vector) -> float:
    return math.exp(-max(0.0, float(logarithm)))


def _times_log(count: Vector, share: float) -> Vector:
    """count log(share), zero for no count whatever the share."""
    return np.where(count > 0, count * math.log(share), 0.0) if share > 0 else np.where(count > 0, -math.inf, 0.0)


def _log_upper(a: Vector, b: Vector, x: float) -> Vector:
    """log P(Beta(a, b) > x), by a continued fraction where the probability itself is too small for a float."""
    direct = np.asarray(betaincc(a, b, x), float)
    if (direct >= 1e-280).all():
        return np.log(direct)
    y, p, q = 1 - x, np.asarray(b, float), np.asarray(a, float)
    small = direct < 1e-280
    p, q = np.where(small, p, 1.0), np.where(small, q, 1.0)
    tail = p * math.log(y) + q * math.log1p(-y) - betaln(p, q) - np.log(p) + np.log(_continued(p, q, y))
    return np.where(small, tail, np.log(np.where(small, 1.0, direct)))


def _continued(a: Vector, b: Vector, x: float) -> Vector:
    """The continued fraction of the incomplete beta function, by Lentz's method; for x far below a/(a + b)."""
    tiny, epsilon = 1e-300, 2.0**-50
    c, d = np.ones_like(a), 1 - (a + b) * x / (a + 1)
    d = 1 / np.where(np.abs(d) < tiny, tiny, d)
    h = d.copy()
    for m in range(1, 20_000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + numerator * d
            c = 1 + numerator / c
            d, c = 1 / np.where(np.abs(d) < tiny, tiny, d), np.where(np.abs(c) < tiny, tiny, c)
            h = h * d * c
        if (np.abs(d * c - 1) < epsilon).all():
            break
    return h
