"""Means under what is declared about their moments, and the intervals that need more than was declared."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.random import Generator

from benchmarks.calibration import engine
from benchmarks.calibration.cases import Case, Outcome, Procedure, Truth
from theorax.decide.status import Levels

FAMILY = "means"
# Both one-sided misses at 0.025: refutation on either side together has twice that.
ONE_SIDED = Levels(support=0.025, refute=0.05)
MARGIN = 0.3


def _lognormal(rng: Generator, m: int) -> np.ndarray:
    return np.exp(1.5 * rng.standard_normal(m))


DISTRIBUTIONS: dict[str, tuple[Callable[[Generator, int], np.ndarray], float, float | None, bool]] = {
    # draws, mean, variance, within [0, 1]
    "normal": (lambda rng, m: rng.standard_normal(m), 0.0, 1.0, False),
    "exponential": (lambda rng, m: rng.exponential(size=m), 1.0, 1.0, False),
    "lognormal(1.5)": (_lognormal, math.exp(1.125), math.exp(2.25) * (math.exp(2.25) - 1), False),
    "Pareto(2.2)": (lambda rng, m: rng.pareto(2.2, m), 1 / 1.2, 2.2 / (1.2**2 * 0.2), False),
    "1 % spikes": (lambda rng, m: (rng.random(m) < 0.01).astype(float), 0.01, 0.01 * 0.99, True),
    "uniform cubed": (lambda rng, m: rng.random(m) ** 3, 0.25, 1 / 7 - 1 / 16, True),
    "two values, 40 %": (lambda rng, m: (rng.random(m) < 0.4).astype(float), 0.4, 0.24, True),
}
# The published worst one-sided miss of Student's t, at 10, 50 and 200 draws.
STUDENT = {
    "normal": (0.027, 0.030, 0.023),
    "exponential": (0.087, 0.068, 0.043),
    "lognormal(1.5)": (0.29, 0.19, 0.13),
    "Pareto(2.2)": (0.24, 0.16, 0.10),
    "1 % spikes": (0.90, 0.61, 0.12),
}


def bootstrap(to: float, resamples: int = 199) -> Callable[[np.ndarray], Outcome]:
    """The percentile interval of resampled means."""
    generator = np.random.default_rng(0)
    picks: dict[int, np.ndarray] = {}

    def rule(values: np.ndarray) -> Outcome:
        m = len(values)
        if m not in picks:
            picks[m] = generator.integers(0, m, (resamples, m))
        low, high = np.quantile(values[picks[m]].mean(axis=1), [0.025, 0.975])
        return Outcome(float(not low <= to <= high), 0.0, lower=float(low), upper=float(high))

    return rule


def published(name: str, m: int) -> float | None:
    """The published worst one-sided miss of Student's t."""
    return STUDENT[name][(10, 50, 200).index(m)] if name in STUDENT else None


@lru_cache
def cases() -> tuple[Case, ...]:
    """Every distribution at 10, 50 and 200 draws, the claim at its mean and a margin off it."""
    found = []
    for name, (sample, mean, variance, bounded) in DISTRIBUTIONS.items():
        margin = MARGIN * math.sqrt(variance)
        declared = ["Student's t", "Catoni"]
        if bounded:
            declared += ["betting"] if name == "uniform cubed" else ["betting", "Clopper-Pearson"]
        for m in (10, 50, 200):
            for off, kind in ((0.0, Truth.HOLDS), (margin, Truth.MARGIN), (-margin, Truth.MARGIN)):
                claimed = mean + off
                procedures = []
                for rule in declared:
                    judge = engine.mean(claimed, margin, m, rule, variance, ONE_SIDED)
                    promised = rule != "Student's t" or name == "normal"
                    procedures.append(Procedure(rule, judge, promised, refute=ONE_SIDED.refute, covers=True))
                if off == 0:
                    procedures.append(Procedure("bootstrap, percentile", bootstrap(mean), covers=True))
                draw = lambda rng, sample=sample, m=m: sample(rng, m)  # noqa: E731
                most = 2000 if off == 0 else 300
                detail = f"claimed {claimed:.4g}"
                found.append(Case(FAMILY, f"{name}, {m} draws", kind, draw, tuple(procedures), mean, detail, most))
    return tuple(found)
