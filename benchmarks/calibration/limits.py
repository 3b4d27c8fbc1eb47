"""Limits of means: a known correction, sweeps that can and cannot see past it, and the habits that do not try."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
from numpy.random import Generator

from benchmarks.calibration import engine, naive
from benchmarks.calibration.cases import Case, Procedure, Published, Truth
from benchmarks.calibration.sweeps import doubling
from theorax.decide.corrections import Corrections

FAMILY = "limits"
NO_REST = Corrections(rest=0, reason="a single power")


def _draw(sizes: np.ndarray, limit: float, size: float, power: float, draws: int, sd: float, shared: float = 0.0):
    """Means limit + size x^-power, noise of the given sd, a share of its variance common to all sizes of a draw."""
    mean = limit + size * (sizes / sizes[0]) ** -power

    def draw(rng: Generator) -> np.ndarray:
        own = rng.standard_normal((draws, len(sizes)))
        if not shared:
            return mean + sd * own
        return mean + sd * (np.sqrt(shared) * rng.standard_normal((draws, 1)) + np.sqrt(1 - shared) * own)

    return draw


def _at_the_largest() -> list[Case]:
    """Tests at the largest size decide another statement; so does a line in 1/n through a correction in n^-1/2."""
    n = doubling(16, 256)
    found = []
    for shared, word in ((0.0, "own seeds"), (0.8, "shared seeds")):
        rules = {
            "t-test at the largest size, p > 0.05": (naive.not_significant(0.0), (0.999, 0.951)),
            "two one-sided tests at the largest size": (naive.equivalence_at_the_largest(0.0, 0.1), (0.995, 0.972)),
            "regression on 1/n": (
                naive.regression_on_the_inverse_size(tuple(n), 0.0, 0.1),
                (None, None) if shared else (0.741, 0.833),
            ),
        }
        own = engine.limit(tuple(n), 0.0, 0.1, 200, 0.3, corrections=NO_REST)
        for truth, kind in ((0.0, Truth.HOLDS), (-0.1, Truth.MARGIN), (0.1, Truth.MARGIN)):
            procedures = [
                Procedure(name, rule, published=Published(rates[0]) if truth == 0 else Published(None, rates[1])
                          if truth < 0 else Published())
                for name, (rule, rates) in rules.items()
            ]  # fmt: skip
            procedures.append(Procedure("bias-aware, default class", own, True, covers=True))
            draw = _draw(n, truth, 0.4, 0.5, 200, 0.3, shared)
            found.append(
                Case(FAMILY, f"16 to 256, 200 draws, {word}", kind, draw, tuple(procedures), truth, f"limit {truth:g}")
            )
    return found


def _extrapolated() -> list[Case]:
    """Sweeps long enough for the default class: both signs and powers of the correction, either policy of seeds."""
    n = doubling(64, 4096)
    published = {(400, 0.5): (0.004, 0.011, 0.996), (400, 1.0): (0.005, 0.0, 0.995), (100, 0.5): (0.007, 0.015, 0.566)}
    found = []
    for draws, power, sign in ((400, 0.5, 1), (400, 1.0, 1), (100, 0.5, 1), (400, 0.5, -1), (100, 1.0, 1)):
        rules = {
            seeds: engine.limit(tuple(n), 0.0, 0.2, draws, 0.8, seeds, corrections=NO_REST)
            for seeds in ("paired", "independent")
        }
        refuted, supported, power_of = published.get((draws, power), (None, None, None)) if sign > 0 else (None,) * 3
        for truth, kind in ((0.0, Truth.HOLDS), (-0.2 * sign, Truth.MARGIN), (0.2 * sign, Truth.MARGIN)):
            stated = (
                Published(refuted, power_of) if truth == 0 else Published(None, supported if truth * sign < 0 else None)
            )
            procedures = tuple(
                Procedure(f"bias-aware, {seeds}", rule, True, stated, covers=True) for seeds, rule in rules.items()
            )
            name = f"64 to 4096, {draws} draws, {0.4 * sign:+g} (n/n0)^-{power:g}"
            draw = _draw(n, truth, 0.4 * sign, power, draws, 0.8)
            found.append(Case(FAMILY, name, kind, draw, procedures, truth, f"limit {truth:g}"))
    return found


def _one_sided() -> list[Case]:
    n = doubling(64, 4096)
    found = []
    for side, sign in (("at least", 1), ("at most", -1)):
        judge = engine.limit(tuple(n), 0.0, 0.2, 400, 1.0, side=side, corrections=NO_REST)
        for share, kind in ((0.0, Truth.HOLDS), (0.3, Truth.HOLDS), (-0.2, Truth.MARGIN), (-0.4, Truth.FAR)):
            truth = share * sign
            stated = Published(None, 0.99) if share > 0 else Published(0.99) if kind is Truth.FAR else Published()
            found.append(
                Case(FAMILY, f"limit {side} zero", kind, _draw(n, truth, 0.4 * sign, 0.5, 400, 1.0),
                     (Procedure("bias-aware, one-sided", judge, True, stated, covers=True),), truth, f"limit {truth:g}")
            )  # fmt: skip
    return found


def _several_cases() -> list[Case]:
    """One claim over four cases, all at the null: one case in error refutes the whole."""
    margin = 1.5
    judge = partial(engine.over_cases, to=0.0, margin=margin)
    found = []
    for last, kind, stated, word in (
        (0.0, Truth.HOLDS, Published(), "all true"),
        (margin, Truth.MARGIN, Published(0.9), "one off by the margin"),
    ):
        means = np.array([[0.0], [0.0], [0.0], [last]])
        draw = lambda rng, means=means: means + rng.standard_normal((4, 20))  # noqa: E731
        procedure = Procedure("combined", judge, True, stated)
        found.append(Case(FAMILY, "four cases, exact means of 20 draws", kind, draw, (procedure,), detail=word))
    return found


@lru_cache
def cases() -> tuple[Case, ...]:
    """Every case of limits."""
    parts = (_at_the_largest, _extrapolated, _one_sided)
    return (*(case for part in parts for case in part()), *_several_cases())
