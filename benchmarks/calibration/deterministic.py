"""Sequences without randomness: the order of a scheme, from values at a few step sizes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.random import Generator

from benchmarks.calibration import engine, naive
from benchmarks.calibration.cases import Case, Procedure, Published, Truth
from benchmarks.calibration.sweeps import doubling
from theorax.decide.corrections import Expansion

FAMILY = "deterministic"
MARGIN = 0.1
ALLOWED = Expansion((1,), rest=0.6, order=2, reason="second order of the logarithm of a smooth expansion")


@lru_cache
def cases() -> tuple[Case, ...]:
    """Sequences n^-a (1 + 0.8 b1 n0/n + 0.15 b2 (n0/n)^2) at sizes 8 to 256, b uniform in [-1, 1]."""
    n = doubling(8, 256)
    x = n / n[0]
    own = "bias-aware, free 1/n"
    rules = {
        "last pair": naive.last_pair(-1, MARGIN),
        "observed order of three grids": naive.three_grids(-1, MARGIN),
        "grid convergence index contains the limit": naive.grid_convergence_index(),
        "R^2 and slope": naive.r_squared(tuple(n), -1, MARGIN),
        own: engine.sequence(tuple(n), MARGIN, ALLOWED, exponent=-1.0),
    }
    published = {
        "last pair": (0.0, 0.487, 0.494),
        "observed order of three grids": (0.079, 0.488, 0.487),
        "grid convergence index contains the limit": (0.0, 1.0, 1.0),
        "R^2 and slope": (0.504, 0.290, 0.485),
        own: (0.0, 0.0, 0.0),
    }
    found = []
    for column, (truth, kind) in enumerate(((1.0, Truth.HOLDS), (1.1, Truth.MARGIN), (0.9, Truth.MARGIN))):

        def draw(rng: Generator, truth: float = truth) -> np.ndarray:
            first, second = rng.uniform(-1, 1, 2)
            return n**-truth * (1 + 0.8 * first / x + 0.15 * second / x**2)

        procedures = []
        for name, rule in rules.items():
            rate = published[name][column]
            holds = Published(rate, 1.0 if name == own else None)
            stated = holds if kind is Truth.HOLDS else Published(None, rate)
            # Nothing is random here: what is in class is never wrong, at any level that chance could be allowed.
            procedures.append(Procedure(name, rule, name == own, stated, 1e-6, 1e-6, covers=name == own))
        found.append(Case(FAMILY, "a scheme of order one", kind, draw, tuple(procedures), -truth, f"order {truth:g}"))
    return tuple(found + _touching())


def _touching() -> list[Case]:
    """Exact values on the boundary of a test: neither null is rejected by an estimate that lies on it."""
    sizes = (8.0, 16.0, 32.0)
    zeros = lambda rng: np.zeros(3)  # noqa: E731
    to_zero, off = (engine.sequence(sizes, 0.5, engine.EXACT, to=limit) for limit in (0.0, 0.5))
    name = "values on the boundary, no bias and no noise"
    return [
        Case(
            FAMILY,
            name,
            kind,
            zeros,
            (Procedure("bias-aware", judge, True, stated, 1e-6, 1e-6, covers=True),),
            0.0,
            word,
        )
        for judge, kind, stated, word in (
            (to_zero, Truth.HOLDS, Published(0.0, 1.0), "zero, claimed zero"),
            (off, Truth.MARGIN, Published(1.0, 0.0), "zero, claimed the margin"),
        )
    ]
