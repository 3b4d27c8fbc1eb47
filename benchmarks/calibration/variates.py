"""Means of draws with variates of known mean: useful, useless, skewed and nonlinear ones, few draws, a wrong mean.

Every case holds the draws as they came beside the same draws less what the variates explain. A claim at the mean may be
refuted, and one off by the margin supported, as rarely as the levels say; a wrong known mean must end in an error, which
counts as neither. A margin is five standard errors of the corrected mean, so that support is in reach of it alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from scipy.special import digamma

from benchmarks.calibration import engine
from benchmarks.calibration.cases import Case, Outcome, Procedure, Truth
from theorax.decide.control_variates import NO_VARIATES, Variate, Variates
from theorax.decide.findings import Finding
from theorax.decide.means import MeanPlan
from theorax.decide.samples import Columns

__all__ = ["FAMILY", "LAWS", "Law", "cases"]

FAMILY = "variates"
Drawn = tuple[np.ndarray, np.ndarray]  # the draws, and their variates as a table


@dataclass(frozen=True)
class Law:
    """Draws with variates: both means, the standard deviation that is left, and for how many draws levels are promised."""

    draw: Callable[[Generator, int], Drawn]
    mean: float
    known: tuple[float, ...]
    left: float
    promised: tuple[int, ...] = (64, 128, 256)


def _linear(rng: Generator, n: int) -> Drawn:
    q = rng.standard_normal(n)
    return q + 0.2 * rng.standard_normal(n), q[:, None]


def _useless(rng: Generator, n: int) -> Drawn:
    return rng.standard_normal(n), rng.standard_normal((n, 1))


def _exponential(rng: Generator, n: int) -> Drawn:
    q = rng.exponential(size=n)
    return q + 0.3 * rng.exponential(size=n), q[:, None]


def _scaled(rng: Generator, n: int) -> Drawn:
    """The noise grows with a log-normal variate, so its slope is mostly that of a few draws."""
    q = np.exp(0.5 * rng.standard_normal(n))
    return q * (1 + 0.2 * rng.standard_normal(n)), q[:, None]


def _curved(rng: Generator, n: int) -> Drawn:
    """A quantity that keeps the square of its variate: the slopes of both halves depend on it."""
    q = rng.standard_normal(n)
    return q + q**2, q[:, None]


def _inverse(rng: Generator, n: int) -> Drawn:
    """Logarithms of chi^2_16 by the inverse square: a skewed variate of draws that are hardly skewed."""
    q = rng.chisquare(16, n) / 16
    return np.log(q) + 0.05 * rng.standard_normal(n), q[:, None] ** -2


def _wandering(rng: Generator, n: int) -> Drawn:
    """A variate of heavy tails, whose slope its largest draws decide."""
    q = rng.standard_t(3, n)
    return q + 0.2 * rng.standard_normal(n), q[:, None]


def _squares(rng: Generator, n: int) -> Drawn:
    """Sixteen variates by their squares: slopes that are fitted where they are applied would shift the mean."""
    q = rng.standard_normal((n, 16))
    return (q**2 - 1).sum(axis=1) + q.sum(axis=1), q


LAWS = {
    "a linear variate": Law(_linear, 0.0, (0.0,), 0.2),
    "a useless variate": Law(_useless, 0.0, (0.0,), 1.0),
    "exponential draws and variate": Law(_exponential, 1.3, (1.0,), 0.3),
    "noise that grows with the variate": Law(_scaled, math.exp(0.125), (math.exp(0.125),), 0.3),
    "a curved variate": Law(_curved, 1.0, (0.0,), math.sqrt(2)),
    "a skewed variate": Law(_inverse, digamma(8) - math.log(8), (16**2 / (14 * 12),), 0.25),
    "a variate of heavy tails": Law(_wandering, 0.0, (0.0,), 0.2),
}
_MARGIN = 5.0  # standard errors of the corrected mean


def _decided(plan: MeanPlan) -> engine.Judge:
    """The decision of this plan; an error of a known mean is neither support nor refutation."""

    def rule(drawn: Drawn) -> Outcome:
        values, table = drawn
        observed = Columns((values,), variates=(table,), variate_errors=(np.zeros((1, table.shape[1])),))
        errors = [part for part in plan.looked_at(observed).findings if part.finding is Finding.NOT_CHECKED]
        return Outcome(0.0, 0.0) if errors else engine.outcome(plan.tested(observed).decision)

    return rule


def _case(name: str, law: Law, n: int, off: float = 0.0, side: str = "exact", shift: float = 0.0) -> Case:
    """The claim ``off`` margins from the mean, the known means shifted by so much."""
    margin = _MARGIN * law.left / math.sqrt(n)
    to = law.mean + off * margin
    known = tuple(Variate(f"q{j}", mean + shift) for j, mean in enumerate(law.known))
    plan = MeanPlan(to=to, margin=margin, draws=n, sd=law.left, side=side)
    procedures = tuple(
        Procedure(how, _decided(replace(plan, variates=variates)), promised=promised)
        for how, variates, promised in (
            ("less what variates explain", Variates(known), n in law.promised),
            ("as drawn", NO_VARIATES, False),
        )
    )
    truth = Truth.HOLDS if off == 0 else Truth.MARGIN
    detail = side if side != "exact" else {0.0: "", 1.0: "below it", -1.0: "above it"}[off]
    return Case(FAMILY, f"{name}, {n} draws", truth, lambda rng: law.draw(rng, n), procedures, law.mean, detail)


@lru_cache
def cases() -> tuple[Case, ...]:
    """Every law at 64, 128 and 256 draws, at its mean and off by the margin; then few draws, many variates, a wrong mean."""
    found = []
    for name, law in LAWS.items():
        for n in (64, 128, 256):
            found += [_case(name, law, n, off) for off in (0.0, 1.0, -1.0)]
    linear = LAWS["a linear variate"]
    found += [_case("a linear variate, too few draws for it", Law(_linear, 0.0, (0.0,), 1.02, (32,)), 32)]
    sixteen = Law(_squares, 0.0, (0.0,) * 16, math.sqrt(32), (544,))
    found += [_case("sixteen curved variates", sixteen, 544, side=side) for side in ("exact", "at least")]
    # Seven standard errors of the variate's mean: one is found at level 10^-4 in more than 99 of 100 samples.
    found += [_case("a wrong known mean", linear, 128, shift=7 / math.sqrt(128))]
    return tuple(found)
