"""Rates with one ingredient under stress: pairing, averages, degrees of freedom, form, floor, class."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.random import Generator

from benchmarks.calibration import engine, naive
from benchmarks.calibration.cases import Case, Procedure, Published, Truth
from benchmarks.calibration.sweeps import (
    DEFAULT,
    FAMILY,
    MARGIN,
    NO_CORRECTION,
    POWERED,
    SHORT,
    SMOOTH,
    doubling,
    lognormal,
    procedures_of,
    table,
)
from theorax.decide.corrections import Corrections

__all__ = ["PARTS"]


def _correlated() -> list[Case]:
    """Each draw has an exponent of its own, the class is exact: what is left is the standard error alone."""
    n = SHORT.sizes
    found = []
    for m, published in ((8, (0.020, 0.097, 0.454)), (32, (0.018, 0.101, 0.446))):
        rules = (
            ("paired", engine.rate(tuple(n), draws=m, corrections=engine.EXACT), published[0]),
            ("sizes taken as independent", naive.independent_sizes(tuple(n), -1, MARGIN), published[1]),
            ("least squares on pooled points", naive.pooled(tuple(n), -1), published[2]),
        )
        for truth, kind in ((1.0, Truth.HOLDS), (0.9, Truth.MARGIN)):

            def draw(rng: Generator, m: int = m, truth: float = truth) -> np.ndarray:
                slopes = truth + 0.1 * rng.standard_normal((m, 1))
                return np.exp(-slopes * np.log(n / n[0]) + 0.05 * rng.standard_normal((m, len(n))))

            own = "paired"
            procedures = tuple(
                Procedure(name, rule, name == own, Published(rate if kind is Truth.HOLDS else None), covers=name == own)
                for name, rule, rate in rules
            )
            found.append(Case(FAMILY, f"correlated sweep, {m} draws", kind, draw, procedures, -truth, f"n^-{truth:g}"))
    return found


def _averages() -> list[Case]:
    """The logarithm of a mean: E log q and log E q have different slopes where the noise grows with the size.

    Equal noise cancels its skewness in a contrast; noise that is large at one end does not, and ten draws of it miss on
    one side nearly twice as often as promised. The levels are promised to a log-sd of 0.6 of equal noise, and from
    forty draws on to 0.3 of growing noise.
    """
    n = doubling(16, 256)
    spreads = {
        "noise of sd 0.2": (0.2, 0.2, True),
        "noise of sd 0.6": (0.6, 0.6, True),
        "noise growing from 0.05 to 0.3": (0.05, 0.3, True),
        "noise growing from 0.1 to 0.6": (0.1, 0.6, False),
        "noise of sd 1": (1.0, 1.0, False),
    }
    found = []
    for (word, (first, last, promised)), m in itertools.product(spreads.items(), (10, 40, 160)):
        sd = np.linspace(first, last, len(n))
        rules = {
            f"jackknife, {seeds}": engine.rate(
                tuple(n), -1, 0.3, m, last, seeds, corrections=engine.EXACT, average="log of mean"
            )
            for seeds in ("paired", "independent")
        }
        for truth, kind in ((1.0, Truth.HOLDS), (1.3, Truth.MARGIN), (0.7, Truth.MARGIN)):
            mean = n**-truth * np.exp(-(sd**2) / 2)
            draw = lambda rng, m=m, mean=mean, sd=sd: mean * np.exp(sd * rng.standard_normal((m, len(sd))))  # noqa: E731
            # `theorax.decide` spends half of its levels on noise of sd 1.
            kept = (promised or first == 1) and (first == last or m >= 40)
            procedures = tuple(Procedure(name, rule, kept, covers=True) for name, rule in rules.items())
            name = f"log of a mean, {word}, {m} draws"
            found.append(Case(FAMILY, name, kind, draw, procedures, -truth, f"n^-{truth:g}"))
    return found


def _unequal() -> list[Case]:
    """Independent draws, few and noisy at the largest size: degrees of freedom are those of the noisiest size."""
    n = np.array([16.0, 32.0, 64.0])
    sd = np.array([0.02, 0.02, 0.3])
    judge = engine.rate(tuple(n), margin=1.0, draws=3, corrections=engine.EXACT, seeds="independent")
    found = []
    for truth, kind in ((1.0, Truth.HOLDS), (2.0, Truth.MARGIN)):
        draw = lambda rng, truth=truth: n**-truth * np.exp(sd * rng.standard_normal((3, 3)))  # noqa: E731
        found.append(
            Case(FAMILY, "three sizes, 3 independent draws each, one noisy", kind, draw,
                 (Procedure("Welch", judge, True, covers=True),), -truth, f"n^-{truth:g}")
        )  # fmt: skip
    return found


def _tiny() -> list[Case]:
    """Two and three draws, no corrections: the quantile of t is all there is."""
    found = []
    few = np.array([16.0, 32.0, 64.0])
    for m, n, word in ((2, few, "three"), (3, few, "three"), (3, SHORT.sizes, "seven")):
        judge = engine.rate(tuple(n), margin=1.0, draws=m, corrections=engine.EXACT)
        for truth, kind in ((1.0, Truth.HOLDS), (2.0, Truth.MARGIN)):
            mean = n**-truth
            draw = lambda rng, mean=mean, m=m: mean * np.exp(0.2 * rng.standard_normal((m, len(mean))))  # noqa: E731
            found.append(Case(FAMILY, f"{word} sizes, {m} draws", kind, draw,
                              (Procedure("paired", judge, True, covers=True),), -truth, f"n^-{truth:g}"))  # fmt: skip
    return found


def _exponential() -> list[Case]:
    """C e^(-cn), with a true factor 1 + n0/(3n) that the pure form does not know."""
    n = np.array([3.0, 6.0, 12.0, 20.0, 30.0, 45.0, 60.0])
    rate, margin = 0.2, 0.03
    factor = 1 + n[0] / (3 * n)
    pure = engine.rate(tuple(n), -rate, margin, 32, form="exponential",
                       corrections=Corrections(size=0, rest=0, log=0.5, reason="a power of at most a half"))  # fmt: skip
    wide = engine.rate(
        tuple(n), -rate, margin, 32, form="exponential",
        corrections=Corrections(size=0.5, slowest=1, log=0.5, reason="an expansion beside a power of at most a half"),
    )  # fmt: skip
    found = []
    for truth, kind in ((rate, Truth.HOLDS), (rate + margin, Truth.MARGIN), (rate - margin, Truth.MARGIN)):
        mean = np.exp(-truth * n) * factor
        draw = lambda rng, mean=mean: mean * np.exp(0.2 * rng.standard_normal((32, len(n))))  # noqa: E731
        holds = kind is Truth.HOLDS
        procedures = (
            Procedure("pure form", pure, False, Published(0.27) if holds else Published()),
            Procedure("B = 0.5 with w >= 1", wide, True, Published(0.0, 0.67) if holds else Published(), covers=True),
        )
        found.append(Case(FAMILY, "e^(-cn) (1 + n0/(3n))", kind, draw, procedures, -truth, f"c = {truth:g}"))
    return found


def _floor() -> list[Case]:
    """A quantity that decays into rounding of known size."""
    n = SHORT.sizes
    noise_floor = 1e-9
    judge = engine.rate(tuple(n), -3.0, MARGIN, 32, corrections=engine.EXACT, floor=noise_floor)
    unguarded = engine.rate(tuple(n), -3.0, MARGIN, 32, corrections=engine.EXACT)
    found = []
    for truth, kind in ((3.0, Truth.HOLDS), (2.9, Truth.MARGIN), (3.1, Truth.MARGIN)):
        mean = n[0] ** (truth - 3) * n**-truth

        def draw(rng: Generator, mean: np.ndarray = mean) -> np.ndarray:
            return mean * np.exp(0.2 * rng.standard_normal((32, len(n)))) + noise_floor * rng.random((32, len(n)))

        holds = kind is Truth.HOLDS
        procedures = (
            Procedure("guarded", judge, True, Published(0.027) if holds else Published(None, 0.024), covers=True),
            Procedure("unguarded", unguarded, False, Published(1.0) if holds else Published()),
        )
        found.append(Case(FAMILY, "n^-3 above a floor of 1e-9", kind, draw, procedures, -truth, f"n^-{truth:g}"))
    return found


def _robust() -> list[Case]:
    """Words that stand under larger classes: less often wrong outside the class, at little cost on real falsehoods."""
    n = POWERED.sizes
    rules = {DEFAULT: procedures_of(POWERED)[DEFAULT], "and robust": engine.robust_rate(tuple(n), -1, MARGIN, 64)}
    slow = lambda x: 0.6 * x**-0.5  # noqa: E731
    found = []
    for word, correction, truth, kind, inside, stated in (
        ("in the class", slow, 1.0, Truth.HOLDS, True, (Published(None, 0.91), Published(None, 0.71))),
        ("in the class", NO_CORRECTION, 0.85, Truth.FAR, True, (Published(), Published(0.997))),
        ("in the class", NO_CORRECTION, 0.8, Truth.FAR, True, (Published(), Published(1.0))),
        ("outside it, 1.5 (n/n0)^-0.3", lambda x: 1.5 * x**-0.3, 1.0, Truth.HOLDS, False, (Published(0.95), Published(0.25))),
    ):  # fmt: skip
        procedures = tuple(
            Procedure(name, rule, inside, rate) for (name, rule), rate in zip(rules.items(), stated, strict=True)
        )
        draw = table(POWERED, truth, correction, lognormal(0.2))
        name = f"robust words, truth {word}"
        found.append(Case(FAMILY, name, kind, draw, procedures, detail=f"n^-{truth:g}"))
    return found


def _alarms() -> list[Case]:
    """The alarm of misfit, at level 0.01: it sees gross errors of form, and not what a class is wrong about."""
    n = SHORT.sizes
    x = n / n[0]
    rules = (engine.alarm(tuple(n), 32), engine.alarm(tuple(n), 32, SMOOTH))
    oscillating = 1 / n * (1 + 0.15 * np.sin(2 * np.pi * np.log2(x) / 2.5))
    found = []
    for word, mean, classes, stated in (
        ("clean power law", 1 / n, (True, True), (0.0, 0.0)),
        ("+ 0.6 (n/n0)^-1/2", (1 + 0.6 * x**-0.5) / n, (True, False), (0.008, 0.008)),
        ("n^-1 log n", np.log(n) / n, (False, False), (0.008, 0.008)),
        ("plateau of 30 % of the last value", 1 / n + 0.3 / n[-1], (False, False), (0.008, 0.008)),
        ("plateau of 300 % of the last value", 1 / n + 3 / n[-1], (False, False), (None, 0.44)),
        ("oscillation of 15 %", oscillating, (False, False), (None, 0.97)),
        ("e^(-n/100)", np.exp(-n / 100), (False, False), (1.0, 1.0)),
    ):
        draw = lambda rng, mean=mean: mean * np.exp(0.2 * rng.standard_normal((32, len(n))))  # noqa: E731
        procedures = tuple(
            Procedure(name, rule, inside, Published(rate), refute=0.01)
            for name, rule, inside, rate in zip(("default class", "free 1/n"), rules, classes, stated, strict=True)
        )
        kind = Truth.HOLDS if True in classes else Truth.FAR
        found.append(Case(FAMILY, "alarm of misfit at level 0.01", kind, draw, procedures, detail=word))
    return found


PARTS = (_correlated, _averages, _unequal, _tiny, _exponential, _floor, _robust, _alarms)
