"""Rates with a known exponent: in class, at the margin, far, heavy tails, tiny, paired, plateau, and outside the class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from benchmarks.calibration import engine, naive, stress
from benchmarks.calibration.cases import Case, Procedure, Published, Truth
from benchmarks.calibration.sweeps import (
    COLUMNS,
    DEFAULT,
    FAMILY,
    FREE,
    NO_CORRECTION,
    POWERED,
    SHORT,
    TINY,
    Design,
    Noise,
    common,
    heavy,
    lognormal,
    procedures_of,
    table,
)
from theorax.decide.corrections import Corrections

__all__ = ["cases"]


@dataclass(frozen=True)
class Line:
    """One line of the table: what is drawn, which classes contain it, and the published rates.

    ``published``: for every column refutation of the truth and support at the margin; ``power``: by (column, truth).
    """

    name: str
    design: Design
    correction: Callable[[np.ndarray], np.ndarray]
    noise: Noise
    classes: tuple[str, ...]
    published: dict[str, tuple[float | None, float | None]]
    power: dict[tuple[str, float], float]
    truths: tuple[float, ...] = (1.0, 0.9, 1.1)


def _columns(*pairs: tuple[float, float]) -> dict[str, tuple[float | None, float | None]]:
    return dict(zip((*COLUMNS, DEFAULT, FREE), pairs, strict=True))


LINES = (
    Line("clean power law", SHORT, NO_CORRECTION, lognormal(0.2), (DEFAULT, FREE),
         _columns((0, .495), (.051, 0), (.093, 0), (.028, .004), (0, 0), (.005, .006)), {(FREE, 1.0): .92}),
    Line("+ 0.5 (n/n0)^-1", SHORT, lambda x: .5 / x, lognormal(0.2), (DEFAULT, FREE),
         _columns((.093, 1), (.992, .999), (1, .686), (.048, .021), (0, 0), (.005, .013)), {(FREE, 1.0): .90}),
    Line("+ 0.6 (n/n0)^-1/2", SHORT, lambda x: .6 * x**-.5, lognormal(0.2), (DEFAULT,),
         _columns((.266, 1), (1, .985), (1, .854), (.626, .509), (.003, .001), (.234, .315)), {}),
    Line("- 0.35 (n/n0)^-1/2", SHORT, lambda x: -.35 * x**-.5, lognormal(0.2), (DEFAULT,),
         _columns((.098, 0), (1, 0), (1, 0), (.259, 0), (0, 0), (.054, 0)), {}),
    Line("two corrections, 0.35 of w = 1/2 and -0.2 of w = 1", SHORT, lambda x: .35 * x**-.5 - .2 / x, lognormal(0.2),
         (DEFAULT,), _columns((0, .996), (.581, 0), (.787, 0), (.226, .124), (0, 0), (.049, .076)), {}),
    Line("lognormal noise of sd 1, + 0.5 (n/n0)^-1", SHORT, lambda x: .5 / x, lognormal(1.0), (DEFAULT, FREE),
         _columns((.831, .207), (.192, .955), (.430, .889), (.040, 0), (.002, 0), (.015, 0)), {}),
    Line("Pareto(2.5) noise, + 0.5 (n/n0)^-1", SHORT, lambda x: .5 / x, heavy, (DEFAULT, FREE),
         _columns((.450, .757), (.477, .976), (.922, .855), (.062, .021), (0, 0), (.011, .001)), {}),
    Line("common seeds with random level and exponent, 16 draws", Design(draws=16), NO_CORRECTION, common,
         (DEFAULT, FREE), _columns((.009, .490), (.912, .003), (.105, .210), (.033, .030), (0, 0), (.018, .007)), {}),
    Line("four sizes 8 to 64, 5 draws, + 0.5 (n/n0)^-1", TINY, lambda x: .5 / x, lognormal(0.2), (DEFAULT, FREE),
         _columns((.900, .515), (.285, .924), (.871, .584), (.036, 0), (.001, 0), (.002, 0)), {}),
    Line("powered (32 to 8192, 64 draws), + 0.6 (n/n0)^-1/2", POWERED, lambda x: .6 * x**-.5, lognormal(0.2),
         (DEFAULT,), _columns((0, 1), (1, .389), (1, .001), (.998, 0), (.007, .012), (.781, 0)),
         {(DEFAULT, 1.0): .916, (DEFAULT, 0.9): .877, (DEFAULT, 0.75): 1.0}, (1.0, 0.9, 1.1, 0.75)),
    Line("powered, clean", POWERED, NO_CORRECTION, lognormal(0.2), (DEFAULT, FREE),
         _columns((0, .512), (.057, 0), (.091, 0), (.029, 0), (0, 0), (.005, 0)), {(DEFAULT, 1.0): .999}),
)  # fmt: skip


def _lines() -> list[Case]:
    found = []
    for line in LINES:
        rules = procedures_of(line.design)
        for truth in line.truths:
            kind = Truth.HOLDS if truth == 1 else Truth.MARGIN if abs(truth - 1) < 0.11 else Truth.FAR
            procedures = []
            for column in rules:
                refuted, supported = line.published.get(column, (None, None))
                reached = line.power.get((column, truth))
                if kind is Truth.HOLDS:
                    published = Published(refuted, reached)
                else:  # the tables speak of the margin from below alone
                    published = Published(reached, supported if truth == 0.9 else None)
                own = column in (DEFAULT, FREE)
                inside = column in line.classes
                procedures.append(Procedure(column, rules[column], inside, published, covers=own and inside))
            draw = table(line.design, truth, line.correction, line.noise)
            found.append(Case(FAMILY, line.name, kind, draw, tuple(procedures), -truth, f"n^-{truth:g}"))
    return found


def _edge() -> list[Case]:
    """Members on the edge of the class: the largest correction of the slowest power, of either sign, on log q itself."""
    n = POWERED.sizes
    judge = procedures_of(POWERED)[DEFAULT]
    found = []
    for sign, word in ((1, "+"), (-1, "-")):
        for truth, kind in ((1.0, Truth.HOLDS), (0.9, Truth.MARGIN), (1.1, Truth.MARGIN)):
            mean = np.exp(-truth * np.log(n) + sign * 0.5 * (n / n[0]) ** -0.5)
            draw = lambda rng, mean=mean: mean * np.exp(0.2 * rng.standard_normal((64, len(n))))  # noqa: E731
            name = f"powered, the whole class spent: log q {word} 0.5 (n/n0)^-1/2"
            found.append(
                Case(FAMILY, name, kind, draw, (Procedure(DEFAULT, judge, True, covers=True),), -truth, f"n^-{truth:g}")
            )
    return found


def _plateau() -> list[Case]:
    """A floor that does not decay: the claim is false, and only long sweeps see it."""
    found = []
    for design, name, share, published in (
        (SHORT, "plateau of 30 % of the last value", 0.3, (0.32, 0.0)),
        (POWERED, "powered, plateau of 30 % of the last value", 0.3, (0.999, None)),
        (POWERED, "powered, plateau of 3 % of the last value", 0.03, (None, 0.99)),
    ):
        rules = procedures_of(design)
        stated = {
            "R^2 and slope": 1.0,
            "least squares": 0.142,
            "WLS, bootstrap": 0.001,
            "WLS with 1/n": 0.007,
            FREE: 0.001,
        }
        procedures = tuple(
            Procedure(
                column,
                rules[column],
                promised=column == DEFAULT,
                published=Published(*published)
                if column == DEFAULT
                else Published(None, stated.get(column))
                if design is SHORT
                else Published(),
            )
            for column in rules
        )
        # A plateau lies outside every class that vanishes; the exponent of its sequence is zero.
        draw = table(design, 1.0, NO_CORRECTION, lognormal(0.2), flat=share)
        found.append(Case(FAMILY, name, Truth.FAR, draw, procedures))
    return found


def _one_sided() -> list[Case]:
    """O(n^-1): a faster decay supports it, n q(n) may grow to its limit."""
    n = POWERED.sizes
    judge = engine.rate(tuple(n), draws=64, side="at most")
    other = engine.rate(tuple(n), draws=64, side="at least")
    rising = lambda x: -0.35 * x**-0.5  # noqa: E731
    rule = naive.does_not_grow(tuple(n), -1)
    column = "bias-aware, one-sided"
    of = lambda truth, how, published, judge=judge, covers=True: Case(  # noqa: E731
        FAMILY,
        "O(n^-1), n q(n) rising to its limit" if judge is not other else "Omega(n^-1), n q(n) rising to its limit",
        how,
        table(POWERED, truth, rising, lognormal(0.2)),
        (Procedure(column, judge, True, published, covers=covers), Procedure("n q(n) does not grow by 10 %", rule)),
        -truth,
        f"n^-{truth:g}",
    )
    return [
        of(1.0, Truth.HOLDS, Published(0.001, 0.993)),
        of(1.25, Truth.HOLDS, Published()),
        of(0.9, Truth.MARGIN, Published()),
        of(0.75, Truth.FAR, Published()),
        of(1.0, Truth.HOLDS, Published(), other),
        of(0.75, Truth.HOLDS, Published(), other),
        of(1.1, Truth.MARGIN, Published(), other),
    ]


def _soft() -> list[Case]:
    """n^-1 log n: exponent one up to powers of log n."""
    n = POWERED.sizes
    rules = procedures_of(POWERED)
    found = []
    for margin, allowed, word in (
        (0.25, 1.0, "one power of log n allowed"),
        (0.4, np.inf, "any power of log n allowed"),
    ):
        judge = engine.rate(tuple(n), margin=margin, draws=64, corrections=Corrections(loglog=allowed))
        for truth, kind in ((1.0, Truth.HOLDS), (1 - margin, Truth.MARGIN), (1 + margin, Truth.MARGIN)):
            mean = n**-truth * np.log(n)
            draw = lambda rng, mean=mean: mean * np.exp(0.2 * rng.standard_normal((64, len(n))))  # noqa: E731
            procedures = (
                Procedure(f"bias-aware, {word}", judge, True, covers=True),
                *(Procedure(column, rules[column]) for column in (DEFAULT, "R^2 and slope", "least squares")),
            )
            found.append(
                Case(FAMILY, f"n^-1 log n, margin {margin:g}", kind, draw, procedures, -truth, f"n^-{truth:g}")
            )
    return found


def _mutation_curve() -> list[Case]:
    """One law of the data, a claim off by more and more."""
    n = POWERED.sizes
    draw = table(POWERED, 1.0, lambda x: 0.3 / x, lognormal(0.2))
    found = []
    for delta, supported, refuted in (
        (0.0, 1.0, None), (0.02, 0.94, 0.0), (0.04, 0.53, 0.11), (0.06, 0.08, 0.61), (0.08, 0.003, 0.96), (0.1, None, 1.0)
    ):  # fmt: skip
        kind = Truth.HOLDS if delta == 0 else Truth.MARGIN if delta == 0.1 else Truth.INSIDE
        judge = engine.rate(tuple(n), -(1 + delta), draws=64)
        procedures = (Procedure(DEFAULT, judge, True, Published(refuted, supported), covers=True),)
        found.append(
            Case(FAMILY, "mutation curve: + 0.3 n0/n", kind, draw, procedures, -1.0, f"claim n^-{1 + delta:g}")
        )
    return found


PARTS = (_lines, _edge, _plateau, _one_sided, _soft, _mutation_curve, *stress.PARTS)


@lru_cache
def cases() -> tuple[Case, ...]:
    """Every case of rates, decided by the engine's functions or by `theorax.decide`."""
    return tuple(case for part in PARTS for case in part())
