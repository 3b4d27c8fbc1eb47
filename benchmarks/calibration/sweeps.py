"""Common parts of the cases of rates: sweeps, noise, classes of corrections, and the procedures held against them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.random import Generator

from benchmarks.calibration import engine, naive
from theorax.decide.corrections import Expansion

FAMILY = "rates"
MARGIN = 0.1


def doubling(first: float, last: float) -> np.ndarray:
    """Sizes from first to last, each twice the one before."""
    return first * 2.0 ** np.arange(round(np.log2(last / first)) + 1)


Noise = Callable[[Generator, int, np.ndarray], np.ndarray]


def lognormal(sd: float) -> Noise:
    """Factors exp(sd Z), one per draw and size."""
    return lambda rng, m, n: np.exp(sd * rng.standard_normal((m, len(n))))


def heavy(rng: Generator, m: int, n: np.ndarray) -> np.ndarray:
    """Factors of mean one with a Pareto tail of index 2.5."""
    return (1 + rng.pareto(2.5, (m, len(n)))) * 0.6


def common(rng: Generator, m: int, n: np.ndarray) -> np.ndarray:
    """Common seeds: each draw has its own level and its own exponent."""
    level, slope = 0.5 * rng.standard_normal((m, 1)), 0.15 * rng.standard_normal((m, 1))
    return np.exp(level - slope * np.log(n / n[0]) + 0.05 * rng.standard_normal((m, len(n))))


@dataclass(frozen=True)
class Design:
    """The sweep of a rate claim."""

    first: float = 16
    last: float = 1024
    draws: int = 32

    @property
    def sizes(self) -> np.ndarray:
        """The sizes of the sweep."""
        return doubling(self.first, self.last)


SHORT, POWERED, TINY = Design(), Design(32, 8192, 64), Design(8, 64, 5)
# What a smooth expansion with a term of at most 0.5 n0/n leaves: the second order of its logarithm.
SMOOTH = Expansion((1,), rest=0.125, order=2, reason="an expansion in 1/n whose first term is at most a half")


def table(design: Design, truth: float, correction: Callable[[np.ndarray], np.ndarray], noise: Noise, flat: float = 0):
    """q(n) = n^-truth (1 + correction(n/n0)) + flat * (last value), times noise."""
    n = design.sizes
    q = n**-truth * (1 + correction(n / n[0]))
    mean = q + flat * q[-1]
    return lambda rng: mean * noise(rng, design.draws, n)


@lru_cache
def procedures_of(design: Design) -> dict[str, Callable]:
    """The procedures to compare on one design, by name."""
    n = tuple(design.sizes)
    return {
        "bias-aware, default class": engine.rate(n, draws=design.draws),
        "bias-aware, free 1/n": engine.rate(n, draws=design.draws, corrections=SMOOTH),
        "R^2 and slope": naive.r_squared(n, -1, MARGIN),
        "R^2": naive.r_squared(n, -1, MARGIN, slope_too=False),
        "least squares": naive.least_squares(n, -1),
        "WLS, bootstrap": naive.bootstrap(n, -1),
        "WLS with 1/n": naive.with_one_correction(n, -1, MARGIN),
    }


COLUMNS = ("R^2 and slope", "least squares", "WLS, bootstrap", "WLS with 1/n")
DEFAULT, FREE = "bias-aware, default class", "bias-aware, free 1/n"


NO_CORRECTION = lambda x: 0 * x  # noqa: E731  (a formula, named as the others are not)
