"""Rates with a known exponent: in class, at the margin, far, heavy tails, tiny, paired, floor, and outside the class."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.random import Generator

from benchmarks.calibration import engine, naive
from benchmarks.calibration.cases import Case, Procedure, Published, Truth
from theorax.theorems.language.approach import Corrections, Expansion, Prefactor

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
def _procedures(design: Design) -> dict[str, Callable]:
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


NO_CORRECTION = lambda x: 0 * x  # noqa: E731  (a formula, named as the others are not)

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
        rules = _procedures(line.design)
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
    judge = _procedures(POWERED)[DEFAULT]
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
        rules = _procedures(design)
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
    rules = _procedures(POWERED)
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
            kept = promised and (first == last or m >= 40)
            procedures = tuple(Procedure(name, rule, kept, covers=True) for name, rule in rules.items())
            name = f"log of a mean, {word}, {m} draws"
            found.append(Case(FAMILY, name, kind, draw, procedures, -truth, f"n^-{truth:g}"))
    return found


def _unequal() -> list[Case]:
    """Independent draws, few and noisy at the largest size: degrees of freedom are those of the noisiest size."""
    n = np.array([16.0, 64.0])
    sd = np.array([0.02, 0.3])
    judge = engine.rate(tuple(n), margin=1.0, draws=3, corrections=engine.EXACT, seeds="independent")
    found = []
    for truth, kind in ((1.0, Truth.HOLDS), (2.0, Truth.MARGIN)):
        draw = lambda rng, truth=truth: n**-truth * np.exp(sd * rng.standard_normal((3, 2)))  # noqa: E731
        found.append(
            Case(FAMILY, "two sizes, 3 independent draws each, one noisy", kind, draw,
                 (Procedure("Welch", judge, True, covers=True),), -truth, f"n^-{truth:g}")
        )  # fmt: skip
    return found


def _tiny() -> list[Case]:
    """Two and three draws, no corrections: the quantile of t is all there is."""
    found = []
    for m, n, word in ((2, np.array([16.0, 64.0]), "two"), (3, np.array([16.0, 64.0]), "two"), (3, SHORT.sizes, "seven")):
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
                       corrections=Prefactor(0.5, reason="a power of at most a half"))  # fmt: skip
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


@lru_cache
def cases() -> tuple[Case, ...]:
    """Every case of rates."""
    parts = (_lines, _edge, _plateau, _one_sided, _soft, _correlated, _averages, _unequal, _tiny, _exponential, _floor, _mutation_curve)  # fmt: skip  # noqa: E501
    return tuple(case for part in parts for case in part())
