"""Means of light and of heavy tails with nothing declared: what support by Student's t alone lets pass, and the engine.

At the margin both sides are asked, each as a one-sided claim: what the engine supports there is false by exactly as
much as the margin. Where the claim holds, the margin is the one at which Student's t alone supports 99 times in 100
for normal draws: what the engine supports less is what its look at the tails costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri, stdtrit

from benchmarks.calibration import engine
from benchmarks.calibration.cases import LEVEL, LEVELS, Case, Outcome, Procedure, Truth
from theorax import decide
from theorax.decide.samples import Columns

FAMILY = "tails"
POWER = 0.99

LAWS: dict[str, tuple[Callable[[Generator, int], np.ndarray], float, float]] = {
    # draws, mean, a standard deviation to plan with (that of a truncated law where there is none)
    "normal": (lambda rng, n: rng.standard_normal(n), 0.0, 1.0),
    "uniform": (lambda rng, n: rng.random(n), 0.5, 12**-0.5),
    "exponential": (lambda rng, n: rng.standard_exponential(n), 1.0, 1.0),
    "squared normal": (lambda rng, n: rng.standard_normal(n) ** 2, 1.0, 2**0.5),
    "lognormal(1)": (lambda rng, n: rng.lognormal(size=n), math.exp(0.5), math.sqrt((math.e - 1) * math.e)),
    "lognormal(2)": (
        lambda rng, n: rng.lognormal(sigma=2.0, size=n),
        math.exp(2.0),
        math.sqrt(math.expm1(4.0) * math.exp(4.0)),
    ),
    "squared t(3)": (lambda rng, n: rng.standard_t(3, n) ** 2, 3.0, 20.0),
    "Pareto(1.5)": (lambda rng, n: 1 + rng.pareto(1.5, n), 3.0, 20.0),
}
# The share of replicates in which a true claim may lose its support to the look at the tails; elsewhere none is stated.
LOST = {
    **{(name, n): 0.01 for name in ("normal", "uniform") for n in (100, 1000, 4000)},
    ("exponential", 1000): 0.02,
    ("exponential", 4000): 0.02,
}


def student(to: float, margin: float, side: str) -> Callable[[np.ndarray], Outcome]:
    """Student's limits against the margin, and no look at the tails."""

    def rule(values: np.ndarray) -> Outcome:
        n, middle = len(values), float(values.mean())
        half = float(stdtrit(n - 1, 1 - LEVEL)) * float(values.std(ddof=1)) / math.sqrt(n)
        below = side == "at most" or middle - half > to - margin
        above = side == "at least" or middle + half < to + margin
        return Outcome(0.0, float(below and above), lower=middle - half, upper=middle + half)

    return rule


def _engine(to: float, margin: float, n: int, sd: float, side: str) -> Callable[[np.ndarray], Outcome]:
    """The engine's support alone: of a skewed law no level of refutation and no uniform p-value is promised."""
    plan = decide.plan_mean(to=to, margin=margin, draws=n, sd=sd, side=side, levels=LEVELS, reading="exact")

    def rule(values: np.ndarray) -> Outcome:
        said = engine.outcome(plan.tested(Columns((values,))).decision)
        return Outcome(0.0, said.supported or said.excludes_margin, said.excludes_margin)

    return rule


def _lost(to: float, margin: float, n: int, sd: float) -> Callable[[np.ndarray], Outcome]:
    """Support by Student's t alone that the engine withholds, counted as refuted."""
    plain, whole = student(to, margin, "exact"), _engine(to, margin, n, sd, "exact")

    def rule(values: np.ndarray) -> Outcome:
        lost = plain(values).supported and not whole(values).supported
        return Outcome(float(lost), 0.0)

    return rule


@lru_cache
def cases() -> tuple[Case, ...]:
    """Every law at 100, 1000 and 4000 draws: the claim at its mean, and a margin off on either side."""
    found = []
    for name, (sample, mean, sd) in LAWS.items():
        for n in (100, 1000, 4000):
            margin = (float(stdtrit(n - 1, 1 - LEVEL)) + float(ndtri((1 + POWER) / 2))) * sd / math.sqrt(n)
            rows = (("exact", 0.0, Truth.HOLDS), ("at most", -margin, Truth.MARGIN), ("at least", margin, Truth.MARGIN))
            for side, off, truth in rows:
                false, to, most = truth is Truth.MARGIN, mean + off, LOST.get((name, n), 1.0)
                procedures = [
                    Procedure("light tails, looked at", _engine(to, margin, n, sd, side), promised=false),
                    Procedure("Student's t alone", student(to, margin, side)),
                ]
                if not false:
                    lost = Procedure("lost to the look", _lost(to, margin, n, sd), promised=most < 1, refute=most)
                    procedures.append(lost)
                draw = lambda rng, sample=sample, n=n: sample(rng, n)  # noqa: E731
                detail = f"{side} {to:.4g}"
                found.append(Case(FAMILY, f"{name}, {n} draws", truth, draw, tuple(procedures), mean, detail))
    return tuple(found)
