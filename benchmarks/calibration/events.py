"""Probabilities of an event: a fixed sample, one that is looked at too often, and the shares that are read as one."""

from __future__ import annotations

from functools import lru_cache

from benchmarks.calibration import engine, naive
from benchmarks.calibration.cases import Case, Procedure, Published, Truth

FAMILY = "events"


def _bernoulli(p: float, draws: int):
    return lambda rng: rng.random(draws) < p


def _fixed() -> list[Case]:
    found = []
    # draws, p0, margin, then (truth, kind, published rates of: share, all passed, Wald, Clopper-Pearson)
    tables = (
        (1000, 0.99, 0.005, (
            (0.99, Truth.HOLDS, ((0.413, None), (1.0, None), (None, None), (0.013, None))),
            (0.985, Truth.MARGIN, ((None, 0.119), (None, 0.0), (None, None), (None, 0.016))),
            (0.998, Truth.HOLDS, ((None, None), (None, None), (None, None), (None, 0.998))),
        )),
        (50, 0.99, 0.01, (
            (0.99, Truth.HOLDS, ((None, None), (0.401, None), (0.0, None), (0.013, None))),
            (0.98, Truth.MARGIN, ((None, None), (None, 0.359), (None, 0.359), (None, 0.0))),
        )),
        (400, 0.5, 0.1, ((0.5, Truth.HOLDS, ((None, None),) * 4), (0.4, Truth.MARGIN, ((None, None),) * 4))),
    )  # fmt: skip
    for draws, p0, margin, truths in tables:
        rules = (
            ("share >= p0", naive.point_estimate(p0), False),
            ("all passed", naive.all_passed(), False),
            ("Wald interval", naive.wald(p0, margin), False),
            ("Clopper-Pearson", engine.at_least(p0, margin, draws), True),
        )
        for truth, kind, stated in truths:
            procedures = tuple(
                Procedure(name, rule, promised, Published(*rates), covers=promised)
                for (name, rule, promised), rates in zip(rules, stated, strict=True)
            )
            name = f"P >= {p0:g}, margin {margin:g}, {draws} draws"
            found.append(Case(FAMILY, name, kind, _bernoulli(truth, draws), procedures, truth, f"p = {truth:g}"))
    return found


def _peeked() -> list[Case]:
    found = []
    unstated = Published()
    for p0, margin, cap, truths in (
        (0.95, 0.02, 5000, (
            (0.95, Truth.HOLDS, Published(0.144)),
            (0.93, Truth.MARGIN, Published(None, 0.133)),
            (0.99, Truth.HOLDS, unstated),
            (0.90, Truth.FAR, unstated),
        )),
        (0.5, 0.05, 5000, ((0.5, Truth.HOLDS, unstated), (0.45, Truth.MARGIN, unstated))),
    ):  # fmt: skip
        for truth, kind, peeked in truths:
            procedures = (
                Procedure("Clopper-Pearson, peeking every 10", naive.peeking(p0, margin), published=peeked),
                Procedure("Clopper-Pearson on a fixed sample", engine.at_least(p0, margin, cap), True),
            )
            name = f"P >= {p0:g}, margin {margin:g}, asked until decided"
            found.append(Case(FAMILY, name, kind, _bernoulli(truth, cap), procedures, truth, f"p = {truth:g}"))
    return found


@lru_cache
def cases() -> tuple[Case, ...]:
    """Every case of events."""
    return (*_fixed(), *_peeked())
