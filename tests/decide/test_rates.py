"""Rates: the average that is declared, the family of weights above a floor, rivals, the misfit alarm, the language."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sympy import Rational, exp

from theorax.decide.bias_aware import solve_weights
from theorax.decide.designs import Plan, Policy, Target
from theorax.decide.rate_estimators import Average, MeansOfLogs, design_rate
from theorax.decide.samples import Columns
from theorax.decide.status import DEFAULT_LEVELS, Reason, Refusal, Status
from theorax.decide.sweep_decisions import decide_sweep
from theorax.errors import DesignError, ObservationError, StatementError
from theorax.language import (
    Absolute,
    Corrections,
    Experiment,
    Measured,
    Rate,
    Size,
    Subject,
)
from theorax.numerics import platform
from theorax.numerics.sampler import Sampler
from theorax.verifiers.attacks.mutants import variants
from theorax.verifiers.cases.measure import measure
from theorax.verifiers.cases.sweep_lines import sweep_lines
from theorax.verifiers.kinds.rate_lowering import RateJudge
from theorax.verifiers.settings import Settings

N = np.array([32 * 2.0**i for i in range(9)])
DEPTHS = np.array([3.0, 5, 8, 12, 20, 30, 45, 60])
PURE = Corrections(size=0, rest=0, log=1, reason="the spectrum has a gap")
WIDE = Corrections(size=0.5, slowest=1, log=1, reason="a second eigenvalue")


def powers(allowed=Corrections(), **more):  # noqa: B008
    return Plan(tuple(N), allowed, draws=64, policy=Policy.PAIRED, **more)


def exponentials(allowed=PURE, **more):
    return Plan(tuple(DEPTHS), allowed, Target.DECAY_RATE, draws=32, policy=Policy.PAIRED, **more)


def noisy(rng, mean, draws, sd=0.2):
    return list((mean * np.exp(sd * rng.standard_normal((draws, len(mean))))).T)


def read(design, samples, claimed, margin, average=Average.MEAN_OF_LOG, floor=0.0):
    """The rate decided on these columns of draws."""
    means = MeansOfLogs.of(design.weights.plan, Columns(tuple(samples)), average, floor)
    return decide_sweep(design, means, claimed, margin)


def test_soft_orders_widen_as_published():
    """Published for sizes 32..8192: b .14 and half-width .17 for |P| <= 1, .21 and .34 for P free."""
    bounded, free = (solve_weights(powers(Corrections(loglog=bound))) for bound in (1, math.inf))
    assert (round(bounded.bias.total, 2), round(bounded.half_width, 2)) == (0.14, 0.17)
    assert (round(free.bias.total, 2), round(free.half_width, 2)) == (0.21, 0.34)


def test_a_log_factor_refutes_the_exact_order_and_not_the_soft_one(rng):
    """Published: every two-sided method without soft orders refutes exponent 1 of n^-1 log n."""
    samples = noisy(rng, np.log(N) / N, 64)
    assert read(design_rate(powers()), samples, 1.0, 0.1)[0].status is Status.REFUTED
    soft = design_rate(powers(Corrections(loglog=1)))
    assert read(soft, samples, 1.0, 0.3)[0].status is Status.SUPPORTED


def test_levels_are_halved_where_the_jackknife_is_not_exact(rng):
    halved = design_rate(powers(sd=0.7), Average.LOG_OF_MEAN)
    assert halved.weights.plan.levels.support == 0.0125
    assert halved.levels == DEFAULT_LEVELS
    assert design_rate(powers(sd=0.6), Average.LOG_OF_MEAN).weights.plan.levels.support == 0.025
    assert design_rate(powers(sd=0.7)).weights.plan.levels.support == 0.025
    # A p-value held against the whole level rejects what half the level did.
    for exponent in (1.0, 1.05, 1.1, 1.15):
        decision, _, _ = read(halved, noisy(rng, 1 / N, 64, sd=0.7), exponent, 0.3, Average.LOG_OF_MEAN)
        assert (decision.p_refute <= decision.levels.refute) == (decision.status is Status.REFUTED)


def test_the_two_averages_differ_by_the_spread(rng):
    """Each is the weighted sum of what its name says."""
    table = np.stack(noisy(rng, 1 / N, 4000, sd=0.1), axis=1)
    for average in Average:
        design = design_rate(powers(), average)
        interval = MeansOfLogs.of(design.weights.plan, Columns(tuple(table.T)), average).interval(design.weights)
        literal = np.log(table).mean(axis=0) if average is Average.MEAN_OF_LOG else np.log(table.mean(axis=0))
        # The jackknife removes a bias of variance/(2 m), here 1e-6 per size.
        assert abs(interval.estimate - design.weights.vector @ literal) < 1e-4


@pytest.mark.parametrize("average", list(Average))
@pytest.mark.parametrize("policy", [Policy.PAIRED, Policy.INDEPENDENT])
def test_a_floor_drops_sizes_and_takes_weights_solved_in_advance(average, policy, rng):
    floor = 1e-7
    plan = Plan(tuple(DEPTHS), PURE, Target.DECAY_RATE, draws=32, policy=policy)
    design = design_rate(plan, average, floor)
    assert [len(w.plan.sizes) for w in design.family] == [8, 7, 6, 5, 4, 3]
    samples = [x + floor * rng.random(32) for x in noisy(rng, np.exp(-0.5 * DEPTHS), 32)]
    decision, weights, alarm = read(design, samples, 0.5, 0.05, average, floor)
    assert weights in design.family
    assert weights.plan.sizes == (3, 5, 8, 12, 20)  # exp(-10) is 450 floors, exp(-15) three
    assert decision.status is Status.SUPPORTED
    assert not alarm
    moved = sum(abs(k) * floor / x.mean() for k, x in zip(weights.values, samples, strict=False))
    # Bounded by the floor over the mean, or its average over the draws: e^(s^2) more, and second order.
    assert weights.bias.total + moved <= decision.bias <= weights.bias.total + 1.1 * moved
    # Unguarded, the floor is refuted as a rate and seen by the alarm.
    unguarded, _, alarm = read(design_rate(plan, average), samples, 0.5, 0.05, average)
    assert unguarded.status is Status.REFUTED
    assert alarm
    assert unguarded.robust is False


def test_too_few_sizes_above_the_floor():
    design = design_rate(exponentials(), floor=1.0)
    with pytest.raises(Refusal) as refusal:
        read(design, [np.full(32, 2.0)] * 8, 0.5, 0.05, floor=1.0)
    assert refusal.value.reason is Reason.NUMERIC_FLOOR


def test_an_exponential_is_supported_only_against_powers(rng):
    rival = (powers_at_depths(), 0.0, 8.0)
    design = design_rate(exponentials(WIDE), rival=rival)
    assert read(design, noisy(rng, np.exp(-0.3 * DEPTHS), 32), 0.3, 0.03)[0].status is Status.SUPPORTED
    # A range that holds what an exponential looks like locally cannot be excluded.
    steep = design_rate(exponentials(WIDE), rival=(powers_at_depths(), 0.0, 40.0))
    decision, _, _ = read(steep, noisy(rng, np.exp(-0.3 * DEPTHS), 32), 0.3, 0.03)
    assert decision.status is Status.INCONCLUSIVE
    assert decision.p_support > 0.025


def powers_at_depths():
    return Plan(tuple(DEPTHS), Corrections(), draws=32, policy=Policy.PAIRED)


def test_a_power_is_no_exponential(rng):
    design = design_rate(exponentials(WIDE), rival=(powers_at_depths(), 0.0, 8.0))
    decision, _, alarm = read(design, noisy(rng, DEPTHS**-2.0, 32), 0.1, 0.2)
    assert decision.status is not Status.SUPPORTED
    assert alarm


def test_the_alarm_withholds_support_and_leaves_a_refutation(rng):
    samples = noisy(rng, np.exp(-N / 2000), 64)  # an exponential under a power law
    exponent = float(solve_weights(powers()).vector @ (-N / 2000))
    near, _, alarm = read(design_rate(powers()), samples, exponent, 1.0)
    assert alarm
    assert (near.status, near.reason, near.p_support) == (Status.INCONCLUSIVE, Reason.CLASS_REFUTED, 1.0)
    far, _, _ = read(design_rate(powers()), samples, exponent + 5, 1.0)
    assert far.status is Status.REFUTED
    assert far.robust is False


REFUSED = {
    "limit": (lambda: design_rate(Plan((1, 2, 3), target=Target.LIMIT)), DesignError, "target"),
    "floor": (lambda: design_rate(powers(), floor=-1.0), DesignError, "floor"),
    "same rival": (lambda: design_rate(powers(), rival=(powers(), 0.0, 1.0)), DesignError, "A power's rival"),
    "range": (
        lambda: design_rate(exponentials(), rival=(powers_at_depths(), 0.0, math.inf)),
        StatementError,
        "finite range",
    ),
    "sizes": (lambda: read(design_rate(powers()), [np.ones(64)], 1.0, 0.1), ObservationError, "1 size of draws"),
    "sign": (
        lambda: read(design_rate(powers()), [np.r_[np.ones(63), -1.0]] * 9, 1.0, 0.1),
        ObservationError,
        "-1 in draw 63 at size 32",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_rates_that_cannot_be_meant(name):
    make, error, because = REFUSED[name]
    with pytest.raises(error, match=because):
        make()


n = Size("n", "depth")
gap = Measured("gap", "an exponential with a factor of n", positive=True)
decay = Measured("decay", "one over n times log n", positive=True)
rounded = Measured("rounded", "the first, with a rounding floor")
raised = Measured("raised", "the first, with a floor far above rounding")


def build(key: Any, n: Any) -> Any:
    first, second = jax.random.split(key)
    return jax.random.normal(first) * 0.2, jnp.asarray(n.value, float), jax.random.uniform(second)


def observe(model: Any) -> dict[str, Any]:
    z, n, u = model
    value = n * jnp.exp(-n / 2 + z)
    return dict(gap=value, decay=jnp.exp(z) * jnp.log(n) / n, rounded=value + 1e-7 * u, raised=value + 1e-3 * u)


@lru_cache(maxsize=2)
def drawn(sizes: tuple[int, ...]) -> Any:
    """A line and what was drawn on it: the claims below are asked of the same draws."""
    experiment = Experiment(
        padded=True,
        subjects={"numbers": Subject(build)},
        observe=observe,
        measures=(gap, decay, rounded, raised),
        sweep={n: sizes},
        draws=64,
    )
    platform.enable()
    (line,) = sweep_lines("numbers", experiment, Settings())
    return line, measure("a theorem", experiment, line, [line], 0, Sampler())


def judged(claim: Any, sizes: tuple[int, ...]) -> Any:
    line, observed = drawn(sizes)
    (cell,) = RateJudge().cells(claim, line)
    return RateJudge().judge(claim, RateJudge().prepare(claim, cell, DEFAULT_LEVELS, claim), observed)


SHORT, LONG = (3, 5, 8, 12, 20, 30, 45), (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
SOFT = Corrections(loglog=1)


def rate(of: Any, like: Any, margin: Any, **more: Any) -> Rate:
    return Rate(of, like, as_=n, margin=margin, **more)


MANUFACTURED = {
    "exponential beside a power": (
        rate(gap, exp(-n / 2), Absolute(1, 20, "it matters"), approach=PURE),
        SHORT,
        Status.SUPPORTED,
    ),
    "another exponential": (
        rate(gap, exp(-2 * n / 5), Absolute(1, 20, "it matters"), approach=PURE),
        SHORT,
        Status.REFUTED,
    ),
    "mean, not logarithm": (
        rate(gap, exp(-n / 2), Absolute(1, 20, "it matters"), approach=PURE, average="log of mean"),
        SHORT,
        Status.SUPPORTED,
    ),
    "and no power": (
        rate(gap, exp(-n / 2), Absolute(1, 20, "it matters"), approach=PURE, rules_out=(-8, 0)),
        SHORT,
        Status.SUPPORTED,
    ),
    "floor of rounding": (
        rate(rounded, exp(-n / 2), Absolute(1, 20, "it matters"), approach=PURE),
        SHORT,
        Status.INCONCLUSIVE,
    ),
    "floor unseen": (rate(raised, exp(-n / 2), Absolute(1, 20, "it matters"), approach=PURE), SHORT, Status.REFUTED),
    "floor declared": (
        rate(rounded, exp(-n / 2), Absolute(1, 20, "it matters"), approach=PURE, floor=Rational(1, 10**7)),
        SHORT,
        Status.SUPPORTED,
    ),
    "soft order": (
        rate(decay, 1 / n, Absolute(3, 10, "it matters"), approach=SOFT, side="at most"),
        LONG,
        Status.SUPPORTED,
    ),
    "exact order": (rate(decay, 1 / n, Absolute(1, 10, "it matters"), approach=Corrections()), LONG, Status.REFUTED),
    "soft order, wrong": (
        rate(decay, n**-2, Absolute(3, 10, "it matters"), approach=SOFT, side="at most"),
        LONG,
        Status.REFUTED,
    ),
}


@pytest.mark.parametrize("name", MANUFACTURED)
def test_manufactured_rates(name: str) -> None:
    claim, sizes, status = MANUFACTURED[name]
    found = judged(claim, sizes)
    assert found.decision.status is status
    assert found.decision.reason == (Reason.NUMERIC_FLOOR if name == "floor of rounding" else None)
    assert any("largest sizes" in part for part in found.unseen) == (name == "floor declared")


def test_what_a_rate_says_of_itself() -> None:
    soft = rate(decay, 1 / n, Absolute(3, 10, "it matters"), approach=SOFT, side="at most", average="log of mean")
    assert "E[decay] = O\u0303(" in soft.statement
    assert r"\tilde{O}" in soft.latex
    against = rate(gap, exp(-n / 2), Absolute(1, 20, "it matters"), approach=PURE, rules_out=(0, -8))
    assert "not like n^a, a from -8 to 0" in against.statement


def test_a_looser_bound_follows_and_a_tighter_one_is_wrong() -> None:
    for side, sign in (("at most", 1), ("at least", -1)):
        found = variants("decay", rate(decay, n**-1, Absolute(1, 10, "it matters"), approach=Corrections(), side=side))
        looser = [v for v in found if isinstance(v.claim, Rate) and sign * (v.claim.exponent + 1) > 0]
        assert {v.expected for v in looser} == {"stays supported"}
        assert [v.expected for v in found if v not in looser].count("rejected") >= 4


UNMEANT = {
    "average": (dict(average="median"), "mean of log"),
    "floor": (dict(floor=-1), "negative"),
    "range": (dict(rules_out=(0, math.inf)), "finite range"),
}


@pytest.mark.parametrize("name", UNMEANT)
def test_rates_that_the_language_refuses(name: str) -> None:
    more, because = UNMEANT[name]
    with pytest.raises(StatementError, match=because):
        rate(gap, exp(-n / 2), Absolute(1, 20, "it matters"), approach=PURE, **more)
