"""Probabilities: literal binomial sums and integrals, looks and caps, the guard band of float comparisons."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from sympy import And, Eq, Ne, Not, Or, Rational

from theorax import decide
from theorax.decide.betting_mixture import Mixture, log_evidence
from theorax.decide.binomial import fewest_draws, proportion_of
from theorax.decide.monitoring import Monitor
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
    assert plan.power() >= 0.8 > ProbabilityPlan(at_least=at_least, margin=margin, draws=needed - 1).power()
    assert math.isclose(plan.power(), literal_tail(least, needed, at_least), rel_tol=1e-9)  # thousands of terms
    assert plan.decides
    low = at_least - plan.noticeable
    most = max(s for s in range(needed + 1) if decided(plan, s).p_refute <= 0.025)
    assert math.isclose(1 - literal_tail(most + 1, needed, low), 0.9, rel_tol=1e-8)


def test_a_plan_that_cannot_decide_names_the_fewest_draws():
    assert f"{fewest_draws(0.99, 0.01)} draws" in ProbabilityPlan(at_least=0.99, margin=0.01, draws=50).weakness
    assert not ProbabilityPlan(at_least=0.99, margin=0.01, draws=fewest_draws(0.99, 0.01)).weakness
    assert fewest_draws(0.9, 0.05, truth=0.85) is None


def literal_evidence(successes, draws, boundary, above):
    """The mixture itself, by quadrature."""
    p = mpmath.mpf(boundary)

    def density(q):
        return 1 / (mpmath.pi * mpmath.sqrt(q * (1 - q)))

    def ratio(q):
        return (q / p) ** successes * ((1 - q) / (1 - p)) ** (draws - successes)

    middle = mpmath.mpf(successes + 1) / (draws + 2)
    ends = sorted({p, mpmath.mpf(1) if above else mpmath.mpf(0), *([middle] if (middle > p) == above else [])})
    prior = mpmath.quad(density, ends)
    return mpmath.log(mpmath.quad(lambda q: ratio(q) * density(q), ends) / prior)


@pytest.mark.parametrize(
    ("successes", "draws", "boundary"), [(0, 5, 0.3), (5, 5, 0.3), (13, 40, 0.5), (38, 40, 0.9), (1, 40, 0.9)]
)
@pytest.mark.parametrize("above", [True, False])
def test_the_e_value_is_the_literal_mixture(successes, draws, boundary, above):
    found = float(log_evidence(successes, draws, boundary, above))
    # Quadrature with a root at an end of its range is good to about 1e-6; the closed form to 1e-12.
    assert abs(found - float(literal_evidence(successes, draws, boundary, above))) < 1e-5


def test_the_e_value_has_mean_one_at_the_boundary():
    """Ten fair draws, every sequence in turn; and less than one beyond the boundary."""
    for above in (True, False):
        means = []
        for p in (0.5, 0.4 if above else 0.6):
            terms = [
                math.comb(10, s) * p**s * (1 - p) ** (10 - s) * math.exp(float(log_evidence(s, 10, 0.5, above)))
                for s in range(11)
            ]
            means.append(math.fsum(terms))
        assert math.isclose(means[0], 1.0, rel_tol=1e-12)
        assert means[1] < 1


def test_a_million_draws_neither_overflow_nor_underflow():
    t = 10**6
    for s in (0, 1, 500_000, 950_000, t):
        for above in (True, False):
            assert math.isfinite(float(log_evidence(s, t, 0.95, above)))
    # Far on the wrong side the mixture is a point at the boundary: e is below one, and nothing is lost to underflow.
    assert -40 < float(log_evidence(500_000, t, 0.95, above=True)) < 0


def test_a_mixture_falls_in_the_boundary():
    mixture = Mixture(0.3, 0.05, math.inf, 0.0, 0.0, 30, 100)
    p = [mixture.p_above(v) for v in np.linspace(0, 1, 201)]
    assert p == sorted(p)
    assert mixture.lower(0.01) < mixture.lower(0.1) < 0.3 < mixture.upper(0.1) < mixture.upper(0.01)


def test_batches_and_later_draws_change_nothing(rng):
    data = rng.random(5000) < 0.99
    plan = ProbabilityPlan(at_least=0.95, margin=0.02, draws=5000, every=10)
    whole, single = Monitor(plan).add(data), Monitor(plan)
    for outcome in data[:700]:
        single = single.add(outcome)
    assert whole.stopped
    assert (single.draws, single.successes, single.decision) == (whole.draws, whole.successes, whole.decision)
    assert whole.draws % 10 == 0
    assert whole.decision.status is Status.SUPPORTED
    assert whole.add(np.zeros(100)) == whole
    assert whole.e_values[0] > 40
    assert whole.e_values[1] < 1  # below one stays below one: a family of e-values needs their mean
    assert math.isclose(1 / whole.e_values[0], whole.decision.p_support, rel_tol=1e-12)


def test_the_cap_is_the_last_look(rng):
    monitor = Monitor(ProbabilityPlan(at_least=0.95, margin=0.02, draws=37, every=10)).add(rng.random(100) < 0.95)
    assert (monitor.stopped, monitor.draws) == (True, 37)
    assert monitor.decision.status is Status.INCONCLUSIVE


def test_before_the_first_look_nothing_is_decided():
    decision = Monitor(ProbabilityPlan(at_least=0.95, margin=0.02, draws=100, every=10)).add([1.0, 0.0]).decision
    assert (decision.status, decision.p_support, decision.p_refute) == (Status.INCONCLUSIVE, 1.0, 1.0)


def test_one_violation_ends_the_watch_of_an_almost_sure_event():
    monitor = Monitor(ProbabilityPlan(at_least=1.0, margin=0.01, draws=1000, every=10)).add(
        [1.0] * 14 + [0.0] + [1.0] * 300
    )
    assert (monitor.draws, monitor.decision.status) == (20, Status.REFUTED)


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
