r"""Convergence in law: pre-activations of a wide layer, whose limit is known, and wrong limits near it.

The hidden layer has n units $\phi(g) = \sqrt2 \max(g, 0)$; given it, the output is Gaussian of variance
$S_n = \frac{v}{n} \sum_i \phi(g_i)^2$. As half the units are on, $S_n = \frac{2v}{n} \chi^2_B$ with $B$ binomial, and
$E e^{-t^2 S_n/2} = \bigl(\frac12 + \frac12 (1 + 2 t^2 v/n)^{-1/2}\bigr)^n$: everything below is drawn and planned
from these two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.random import Generator

from benchmarks.calibration import engine, naive
from benchmarks.calibration.cases import LEVELS, Case, Outcome, Procedure, Published, Truth
from theorax import decide
from theorax.decide.bias_aware import Bias
from theorax.decide.corrections import Corrections, Expansion
from theorax.decide.law_distance import decide_distance
from theorax.decide.law_features import features_of_conditional_variance, features_of_samples, gauss_hermite
from theorax.decide.laws import LawPlan, decide_law

FAMILY = "laws"
SIZES = (16, 32, 64, 128, 256)
CLAIMED = decide.Normal()
FREQUENCIES = gauss_hermite()
T = FREQUENCIES.table[:, 0]

# From the closed form: n0 = 16, D(first order) = 0.034 and 0.035 (v = 1, 1.1), what remains times (n/16)^2 <= 0.0042.
KNOWN = Expansion((1,), rest=0.005, order=2, reason="the law expands in 1/n, its second order computed exactly")
BOUNDED = Corrections(size=0.05, slowest=1, reason="the first order at n = 16 is 0.035, computed exactly")


def hidden(rng: Generator, n: int, draws: int, variance: float) -> np.ndarray:
    """The conditional variances S_n."""
    on = rng.binomial(n, 0.5, draws)
    return 2 * variance / n * rng.chisquare(np.maximum(on, 1)) * (on > 0)


def bottleneck(rng: Generator, n: int, draws: int, width: int) -> np.ndarray:
    """Conditional variances that stay random: a chi-square of the bottleneck's width, times those of the wide layer."""
    return rng.chisquare(width, draws) / width * hidden(rng, n, draws, 1.0)


def _conditional_sd() -> tuple[float, ...]:
    """Root mean square noise of the conditional features under the claimed law, by the closed form."""

    def expected(t2: np.ndarray, n: int) -> np.ndarray:
        return ((1 + (1 + 2 * t2 / n) ** -0.5) / 2) ** n

    weights = np.asarray(FREQUENCIES.weights)
    return tuple(float(np.sqrt(weights @ (expected(2 * T**2, n) - expected(T**2, n) ** 2))) for n in SIZES)


def _judge(plan: LawPlan, with_bias: bool = True) -> Callable:
    features = features_of_conditional_variance if plan.conditional else features_of_samples
    bare = replace(plan.weights, bias=Bias())

    def judge(samples: Sequence[np.ndarray]) -> Outcome:
        tables = [features(x, plan.frequencies) for x in samples]
        if with_bias:
            return engine.outcome(decide_law(plan, tables).decision)
        return engine.outcome(decide_distance(tables, plan.target, bare, plan.margin))

    return judge


def law_plans(draws: int, conditional: bool) -> dict[str, LawPlan]:
    """The plans at so many draws, by their class of corrections."""
    sd = _conditional_sd() if conditional else 0.0
    found = {}
    for name, allowed in (("free 1/n", KNOWN), ("B = 0.05, w >= 1", BOUNDED)):
        plan = decide.plan_law(
            SIZES,
            to=CLAIMED,
            draws=draws,
            seeds="independent",
            corrections=allowed,
            levels=LEVELS,
            conditional=conditional,
            reading="exact",
        )
        found[name] = replace(plan, sd=sd)
    return found


def _samples(draw: Callable[[Generator, int], np.ndarray], conditional: bool) -> Callable:
    """One array per size: the conditional variances, or outputs given them."""

    def sample(rng: Generator) -> list[np.ndarray]:
        variances = [draw(rng, n) for n in SIZES]
        return variances if conditional else [np.sqrt(s) * rng.standard_normal(len(s)) for s in variances]

    return sample


@lru_cache
def cases() -> tuple[Case, ...]:
    """Every case of laws."""
    return (*_conditional_cases(), *_raw_cases(), *_fixed_cases())


def _conditional_cases() -> list[Case]:
    draws = 500
    plans = law_plans(draws, conditional=True)
    own = {f"conditional, {name}": _judge(plan) for name, plan in plans.items()}
    bare = _judge(plans["B = 0.05, w >= 1"], with_bias=False)
    rates = {
        "conditional, free 1/n": ((0.0, 1.0), (0.996, 0.004)),
        "conditional, B = 0.05, w >= 1": ((0.0, 1.0), (0.991, 0.009)),
    }
    name = f"wide layer, {draws} draws, conditional on the hidden layer"
    found = []
    for column, (variance, kind) in enumerate(((1.0, Truth.HOLDS), (1.1, Truth.MARGIN))):
        procedures = [Procedure(rule, judge, True, Published(*rates[rule][column])) for rule, judge in own.items()]
        procedures.append(
            Procedure("no bias term", bare, False, Published(0.0) if column == 0 else Published(None, 0.178))
        )
        draw = _samples(lambda rng, n, v=variance: hidden(rng, n, draws, v), True)
        found.append(Case(FAMILY, name, kind, draw, tuple(procedures), detail=f"limit N(0, {variance:g})"))
    for width, stated in ((12, Published(0.83, None)), (48, Published(None, 0.998))):
        draw = _samples(lambda rng, n, width=width: bottleneck(rng, n, draws, width), True)
        procedures = tuple(Procedure(rule, judge, width == 12, stated) for rule, judge in own.items())
        detail = f"limit with a chi-square of {width} in it"
        found.append(Case(FAMILY, name, Truth.INSIDE, draw, procedures, detail=detail, replicates=500))
    return found


def _raw_cases() -> list[Case]:
    draws = 4000
    own = _judge(law_plans(draws, conditional=False)["free 1/n"])
    found = []
    stated = (
        ((0.003, 0.20), (0.043, None), (0.104, None)),
        ((0.89, 0.0), (None, 0.711), (None, 0.888)),
    )
    for column, (variance, kind) in enumerate(((1.0, Truth.HOLDS), (1.1, Truth.MARGIN))):
        draw = _samples(lambda rng, n, v=variance: hidden(rng, n, draws, v), False)
        rules = (("free 1/n", own, True), ("Kolmogorov-Smirnov, p > 0.05", naive.kolmogorov_smirnov(), False),
                 ("Jarque-Bera, p > 0.05", naive.jarque_bera(), False))  # fmt: skip
        procedures = tuple(
            Procedure(rule, judge, promised, Published(*rates))
            for (rule, judge, promised), rates in zip(rules, stated[column], strict=True)
        )
        found.append(Case(FAMILY, f"wide layer, {draws} draws of the output", kind, draw, procedures,
                          detail=f"limit N(0, {variance:g})", replicates=500))  # fmt: skip
    narrow = Procedure("Kolmogorov-Smirnov, p > 0.05", naive.kolmogorov_smirnov(), published=Published(0.979))
    at_16 = lambda rng: [np.sqrt(hidden(rng, 16, draws, 1.0)) * rng.standard_normal(draws)]  # noqa: E731
    name = f"wide layer, {draws} draws of the output at n = 16 alone"
    found.append(Case(FAMILY, name, Truth.HOLDS, at_16, (narrow,), replicates=500))
    few = _samples(lambda rng, n: hidden(rng, n, 500, 1.1), False)
    rule = Procedure("Kolmogorov-Smirnov, p > 0.05", naive.kolmogorov_smirnov(), published=Published(None, 0.922))
    found.append(
        Case(FAMILY, "wide layer, 500 draws of the output", Truth.MARGIN, few, (rule,), detail="limit N(0, 1.1)")
    )
    return found


def _fixed_cases() -> list[Case]:
    """The claimed law itself at one size, no corrections: the level is spent in full, not only kept."""
    draws = 400
    judge = _judge(
        decide.plan_law(
            to=CLAIMED, excludes=[decide.Normal(0, np.sqrt(1.8))], draws=draws, levels=LEVELS, reading="exact"
        )
    )
    found = []
    for variance, kind, stated in ((1.0, Truth.HOLDS, Published()), (1.8, Truth.MARGIN, Published(0.99))):
        draw = lambda rng, v=variance: [np.sqrt(v) * rng.standard_normal(draws)]  # noqa: E731
        found.append(Case(FAMILY, f"Gaussian at one size, {draws} draws", kind, draw,
                          (Procedure("no corrections", judge, True, stated),), detail=f"N(0, {variance:g})"))  # fmt: skip
    return found
