"""Probabilities: literal binomial sums, the guard band of float comparisons."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from sympy import And, Eq, Ne, Not, Or, Rational

from theorax import decide
from theorax.decide.binomial import fewest_draws, proportion_of
from theorax.decide.probabilities import ProbabilityPlan, decide_probability
from theorax.decide.status import DEFAULT_LEVELS, Reason, Status
from theorax.errors import DesignError, ObservationError, StatementError
from theorax.language import Absolute, Experiment, Measured, Probability, Relative, Size, Subject
from theorax.numerics import platform
from theorax.numerics.sampler import Sampler
from theorax.verifiers.cases.measure import measure
from theorax.verifiers.cases.sweep_lines import sweep_lines
from theorax.verifiers.kinds.probability_lowering import ProbabilityJudge
from theorax.verifiers.settings import Settings

WIDE = ProbabilityPlan(at_least=0.9, margin=0.1, draws=100)


def decided(plan, successes):
    return decide_probability(plan, successes).decision


def literal_tail(successes, draws, p):
    """P(Bin(draws, p) >= successes), summed."""
    return math.fsum(math.comb(draws, j) * p**j * (1 - p) ** (draws - j) for j in range(successes, draws + 1))


def test_a_fixed_sample_is_clopper_and_pearson():
    decision = decided(WIDE, 90)
    # Each term of the literal sum within a hundred roundings.
    assert math.isclose(decision.p_support, literal_tail(90, 100, WIDE.boundary), rel_tol=1e4 * 2.0**-52)
    assert math.isclose(decision.p_refute, 1 - literal_tail(91, 100, 0.9), rel_tol=1e4 * 2.0**-52)
    assert decision.status is Status.SUPPORTED
    assert decided(WIDE, 80).status is Status.REFUTED
    undecided = decided(WIDE, 85)
    assert (undecided.status, undecided.reason) == (Status.INCONCLUSIVE, Reason.UNDERPOWERED)


def test_undecided_outcomes_count_against_whatever_is_to_be_shown():
    guarded = proportion_of(80, 100, undecided=15)
    assert guarded.lower(0.025) == proportion_of(80, 100).lower(0.025)
    assert guarded.upper(0.025) == proportion_of(95, 100).upper(0.025)
    assert guarded.p_below(0.9) == proportion_of(95, 100).p_below(0.9)
    outcomes = [1.0] * 80 + [math.nan] * 15 + [0.0] * 5
    assert decide.probability(WIDE, outcomes).status is Status.INCONCLUSIVE
    assert decide.probability(WIDE, [1.0] * 80 + [0.0] * 20).status is Status.REFUTED


@pytest.mark.parametrize("delta", [0.1, 0.05, 0.01, 1e-3, 1e-4, 1e-6])
def test_clean_draws_that_support_an_almost_sure_event(delta):
    published = {0.1: 36, 0.05: 72, 0.01: 368, 1e-3: 3688, 1e-4: 36887, 1e-6: 3688878}[delta]
    assert fewest_draws(1.0, delta) == published
    enough, few = (decided(ProbabilityPlan(at_least=1.0, margin=delta, draws=n), n) for n in (published, published - 1))
    assert enough.status is Status.SUPPORTED
    assert few.status is Status.INCONCLUSIVE
    assert math.isclose(enough.lower, 0.025 ** (1 / published), rel_tol=1e-12)  # the strongest level that is supported
    assert decided(ProbabilityPlan(at_least=1.0, margin=delta, draws=published), published - 1).status is Status.REFUTED


@pytest.mark.parametrize(("at_least", "margin"), [(0.95, 0.02), (0.5, 0.1), (0.99, 0.005)])
def test_the_fewest_draws_have_the_power_asked_for(at_least, margin):
    needed = fewest_draws(at_least, margin)
    plan = ProbabilityPlan(at_least=at_least, margin=margin, draws=needed)
    least = next(s for s in range(needed + 1) if decided(plan, s).status is Status.SUPPORTED)
    assert plan.power() >= 0.9 > ProbabilityPlan(at_least=at_least, margin=margin, draws=needed - 1).power()
    assert math.isclose(plan.power(), literal_tail(least, needed, at_least), rel_tol=1e-9)  # thousands of terms
    assert plan.decides
    low = at_least - plan.noticeable
    most = max(s for s in range(needed + 1) if decided(plan, s).p_refute <= 0.025)
    assert math.isclose(1 - literal_tail(most + 1, needed, low), 0.9, rel_tol=1e-8)


def test_a_plan_that_cannot_decide_names_the_fewest_draws():
    assert f"{fewest_draws(0.99, 0.01)} draws" in ProbabilityPlan(at_least=0.99, margin=0.01, draws=50).weakness
    assert not ProbabilityPlan(at_least=0.99, margin=0.01, draws=fewest_draws(0.99, 0.01)).weakness
    assert fewest_draws(0.9, 0.05, truth=0.85) is None


def test_the_hash_is_that_of_earlier_versions():
    """Counts of attempts and baselines hold the hash, so a deleted field may not change it."""
    assert decide.plan_probability(at_least=0.9, margin=0.05, draws=100).hash == "fef110c895f83ded"


n = Size("n", "length")
s = Measured("s", "a uniform number")
t = Measured("t", "the same number, known up to a tenth")


def build(key: Any) -> jax.Array:
    return jax.random.uniform(key)


def observe(model: jax.Array) -> dict[str, jax.Array]:
    return dict(s=model, t=model, t_error=jnp.zeros(()) + 0.1)


@lru_cache(maxsize=2)
def drawn(draws: int) -> Any:
    """A line and what was drawn on it: the claims below are asked of the same draws."""
    experiment = Experiment(
        padded=True,
        subjects={"uniform": Subject(build)},
        observe=observe,
        measures=(s, t),
        sweep={n: (4,)},
        draws=draws,
    )
    platform.enable()
    (line,) = sweep_lines("uniform", experiment, Settings())
    return line, measure("a theorem", experiment, line, [line], 0, Sampler())


def judged(claim: Probability, draws: int = 400) -> Any:
    line, observed = drawn(draws)
    judge = ProbabilityJudge()
    (cell,) = judge.cells(claim, line)
    return judge.judge(claim, judge.prepare(claim, cell, DEFAULT_LEVELS, claim), observed)


def event(event: Any, at_least: Any, margin: Any = Absolute(1, 10, "a tenth matters")) -> Probability:  # noqa: B008
    return Probability(event, at_least=at_least, margin=margin)


MANUFACTURED = {
    "true": (event(s <= Rational(1, 2), Rational(1, 2)), Status.SUPPORTED),
    "off by one and a half margins": (event(s <= Rational(1, 2), Rational(13, 20)), Status.REFUTED),
    "weaker than the truth": (event(s <= Rational(9, 10), Rational(1, 2)), Status.SUPPORTED),
    "joined": (event(And(s > Rational(1, 4), Or(s < Rational(3, 4), Eq(s, 2))), Rational(1, 2)), Status.SUPPORTED),
    "not": (event(Not(s < Rational(1, 4)), Rational(3, 4)), Status.SUPPORTED),
    "almost sure": (event(s >= 0, 1, None), Status.SUPPORTED),
    "almost sure, unequal": (event(Ne(s, 2), 1, None), Status.SUPPORTED),
    "almost sure, false": (event(s <= Rational(1, 2), 1, None), Status.REFUTED),
    "a guard band in the way": (event(t <= Rational(1, 2), Rational(1, 2)), Status.INCONCLUSIVE),
    "refuted beyond its guard band": (event(t <= Rational(1, 2), Rational(9, 10)), Status.REFUTED),
    "certain within its guard band": (event(t <= 1, 1, None), Status.INCONCLUSIVE),
}


@pytest.mark.parametrize("name", MANUFACTURED)
def test_manufactured_probabilities(name: str) -> None:
    claim, status = MANUFACTURED[name]
    found = judged(claim, 400)
    assert found.decision.status is status
    assert found.rigorous == (name == "almost sure, false")
    assert found.detail


UNMEANT = {
    "no margin": (lambda: Probability(s <= 1, at_least=Rational(9, 10)), StatementError, "no margin"),
    "relative": (
        lambda: event(s <= 1, Rational(9, 10), Relative(1, 10, "a tenth matters")),
        StatementError,
        "relative",
    ),
    "reaches zero": (lambda: event(s <= 1, Rational(1, 10)), StatementError, "reaches zero"),
    "no event": (lambda: event(s, Rational(9, 10)), StatementError, "neither true nor false"),
    "nothing measured": (lambda: event(n > 3, Rational(9, 10)), StatementError, "no measured letter"),
    "above one": (lambda: ProbabilityPlan(at_least=1.1, margin=0.1, draws=10), StatementError, "from zero to one"),
    "wide margin": (lambda: ProbabilityPlan(at_least=0.1, margin=0.1, draws=10), StatementError, "above zero"),
    "no draws": (lambda: ProbabilityPlan(at_least=0.9, margin=0.1, draws=0), DesignError, "whole number"),
    "no outcome": (lambda: decide.probability(WIDE, []), ObservationError, "empty"),
    "a number": (lambda: decide.probability(replace(WIDE, draws=3), [1, 0, 0.5]), ObservationError, "number 2 is 0.5"),
}


@pytest.mark.parametrize("name", UNMEANT)
def test_what_cannot_be_meant(name):
    make, error, because = UNMEANT[name]
    with pytest.raises(error, match=because):
        make()
