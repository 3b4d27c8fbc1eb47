"""Logarithmic and slow convergence: true claims whose corrections the default class leaves out, and false ones it holds."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri

from benchmarks.calibration import engine, naive
from benchmarks.calibration.cases import Case, Procedure, Truth
from benchmarks.calibration.sweeps import doubling
from theorax import decide
from theorax.decide.corrections import Corrections
from theorax.decide.slow_terms import SlowTerm

FAMILY = "slow"
BELIEVED = Corrections(reason="the default class, believed")
EXTREMES = Corrections(
    size=0, rest=0.05, order=1, log=0.1, loglog=0.1, reason="the law of the largest of n normal numbers"
)
SIZES = 64 * 4.0 ** np.arange(4)
DRAWS, SD, MARGIN = 200, 0.2, 0.05

Draw = Callable[[Generator], np.ndarray]


def _normal(mean: np.ndarray, draws: int = DRAWS, sd: float = SD) -> Draw:
    return lambda rng: mean + sd * rng.standard_normal((draws, len(mean)))


def _procedures(to: float, *, promised: bool, sizes: np.ndarray = SIZES, draws: int = DRAWS) -> tuple[Procedure, ...]:
    """The engine without a reason and with one, and two habits."""
    of = {"draws": draws, "sd": SD, "seeds": "independent", "reading": "margin"}
    n = tuple(sizes)
    return (
        Procedure("bias-aware, default class", engine.limit(n, to, MARGIN, **of), promised),
        Procedure("the same class with a reason", engine.limit(n, to, MARGIN, corrections=BELIEVED, **of)),
        Procedure("t-test at the largest size, p > 0.05", naive.not_significant(to)),
        Procedure("regression on 1/n", naive.regression_on_the_inverse_size(n, to, MARGIN)),
    )


def _true_limits() -> list[Case]:
    """1 + c g(n), with the whole class spent on a correction that it does not hold."""
    found = []
    for term in SlowTerm:
        for size in (0.5, 0.2, -0.5):
            mean = 1 + size * np.asarray(term.at(tuple(SIZES)))
            name = f"limit 1, a slow correction ({term.value})"
            found.append(
                Case(FAMILY, name, Truth.HOLDS, _normal(mean), _procedures(1.0, promised=True), 1.0, f"size {size:g}")
            )
    return found


def _false_limits() -> list[Case]:
    """Limits off the claim, approached as the class says: rightful refutations that are withheld."""
    found = []
    for sizes, draws in ((SIZES, DRAWS), (doubling(16, 4096), 1000)):
        for off in (0.05, 0.1, 0.2, 0.4):
            for size in (0.0, 0.2):
                mean = 1 + off + size * (sizes / sizes[0]) ** -0.5
                kind = Truth.MARGIN if off == MARGIN else Truth.FAR
                procedures = _procedures(1.0, promised=off == MARGIN, sizes=sizes, draws=draws)
                name = f"limit off by {off:g}, {len(sizes)} sizes, {draws} draws"
                found.append(
                    Case(FAMILY, name, kind, _normal(mean, draws), procedures, 1 + off, f"{size:g} (n/n0)^-1/2")
                )
    return found


def _largest_of_normal_numbers() -> list[Case]:
    """The largest of n normal numbers over the root of 2 log n: its limit is 1, and 0.92 fits better for long."""
    sizes = 64 * 4.0 ** np.arange(5)

    def draw(rng: Generator) -> np.ndarray:
        return ndtri(rng.random((DRAWS, len(sizes))) ** (1 / sizes)) / np.sqrt(2 * np.log(sizes))

    found = []
    for to, kind in ((1.0, Truth.HOLDS), (0.92, Truth.MARGIN)):
        of = {"draws": DRAWS, "sd": 0.1, "seeds": "independent", "reading": "margin"}
        procedures = (
            Procedure("bias-aware, default class", engine.limit(tuple(sizes), to, 0.08, **of), to == 1.0),
            Procedure("bias-aware, logarithms declared",
                      engine.limit(tuple(sizes), to, 0.08, corrections=EXTREMES, **of), True),
            Procedure("the default class with a reason",
                      engine.limit(tuple(sizes), to, 0.08, corrections=BELIEVED, **of)),
            Procedure("two one-sided tests at the largest size", naive.equivalence_at_the_largest(to, 0.08)),
        )  # fmt: skip
        found.append(Case(FAMILY, "the largest of n normal numbers", kind, draw, procedures, 1.0, f"claimed {to:g}"))
    return found


def _orders() -> list[Case]:
    """N^-1 log N, claimed to be N^-0.85; and true powers with a correction in 1/n, which no rival may take away."""
    n = 64 * 4.0 ** np.arange(5)
    found = []
    for name, kind, mean, exponent, promised in (
        ("n^-1 log n, claimed n^-0.85", Truth.MARGIN, np.log(n) / n, -0.85, False),
        ("n^-1/2 (1 + 0.5 n0/n), claimed n^-1/2", Truth.HOLDS, n**-0.5 * (1 + 0.5 * n[0] / n), -0.5, True),
        ("n^-1, claimed n^-1", Truth.HOLDS, 1 / n, -1.0, True),
    ):
        of = {"draws": 64, "seeds": "independent", "reading": "margin"}
        procedures = (
            Procedure("bias-aware, default class", engine.rate(tuple(n), exponent, 0.1, **of), promised),
            Procedure("the same class with a reason", engine.rate(tuple(n), exponent, 0.1, corrections=BELIEVED, **of)),
            Procedure("least squares", naive.least_squares(tuple(n), exponent)),
        )
        draw = lambda rng, mean=mean: mean * np.exp(0.2 * rng.standard_normal((64, len(mean))))  # noqa: E731
        found.append(Case(FAMILY, name, kind, draw, procedures))
    return found


def _one_value_each() -> list[Case]:
    """One value at each size with noise of 30 %, of which nothing was said: exact values would be refuted."""
    found = []
    for count in (4, 6, 9):
        n = doubling(8, 8 * 2 ** (count - 1))
        for truth, kind in ((1.0, Truth.HOLDS), (2.5, Truth.FAR)):
            mean = n**-truth
            draw = lambda rng, mean=mean: (mean * np.exp(0.3 * rng.standard_normal(len(mean))))[None]  # noqa: E731
            single = decide.plan_rate(tuple(n), exponent=-1.0, margin=0.1, draws=1)
            exact = decide.plan_sequence(tuple(n), exponent=-1.0, margin=0.1)
            procedures = (
                Procedure("noise from the residuals", engine.by(single), True),
                Procedure("taken as exact", engine.by(exact)),
                Procedure("least squares", naive.least_squares(tuple(n), -1.0)),
            )
            found.append(
                Case(FAMILY, f"one value at each of {count} sizes, noise 30 %", kind, draw, procedures,
                     -truth, f"n^-{truth:g}, claimed n^-1")
            )  # fmt: skip
    return found


def _rounding() -> list[Case]:
    """Errors of order four that fall into rounding, in double and in single precision."""
    n = doubling(8, 1024)
    found = []
    for spacing, word, size in ((2.0**-52, "double", 1e-7), (2.0**-23, "single", 1.0)):
        for truth, kind in ((4.0, Truth.HOLDS), (3.0, Truth.FAR)):
            mean = size * (n / n[0]) ** -truth

            def draw(rng: Generator, mean: np.ndarray = mean, spacing: float = spacing) -> np.ndarray:
                return np.abs(mean + 2 * spacing * rng.uniform(-1, 1, len(mean)))[None]

            judge = engine.by(decide.plan_sequence(tuple(n), exponent=-4.0, margin=0.25))
            procedures = (
                Procedure("bias-aware, default class", judge, True),
                Procedure("last pair", lambda table: naive.last_pair(-4, 0.25)(table[0])),
            )
            found.append(
                Case(FAMILY, f"errors that fall into rounding, {word} precision", kind, draw, procedures, None,
                     f"order {truth:g}, claimed 4")
            )  # fmt: skip
    return found


PARTS = (_true_limits, _false_limits, _largest_of_normal_numbers, _orders, _one_value_each, _rounding)


@lru_cache
def cases() -> tuple[Case, ...]:
    """Every case of slow convergence, of noise without a model, and of rounding."""
    return tuple(case for part in PARTS for case in part())
