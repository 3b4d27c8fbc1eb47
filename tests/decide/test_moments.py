"""Declared moments lead to their intervals, and a quantile needs none."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import jax
import numpy as np
import pytest
from sympy import Rational, log

from theorax.decide.bias_aware import solve_weights
from theorax.decide.designs import Plan, Policy, Tails, Target
from theorax.decide.equivalence import decide
from theorax.decide.interval import Betting, Catoni, Proportion, Student
from theorax.decide.moments import LightTails, MeansOfDraws
from theorax.decide.quantiles import fewest_for_a_limit, planned_sd, quantile_of_draws
from theorax.decide.samples import Columns
from theorax.decide.status import DEFAULT_LEVELS, Reason, Refusal, Status
from theorax.errors import ObservationError, StatementError
from theorax.language import (
    Absolute,
    Bounded,
    BoundedVariance,
    Corrections,
    Expectation,
    Experiment,
    Limit,
    Measured,
    Rate,
    Size,
    Subject,
    TwoValues,
)
from theorax.numerics import platform
from theorax.numerics.sampler import Sampler
from theorax.verifiers.cases.measure import measure
from theorax.verifiers.cases.sweep_lines import sweep_lines
from theorax.verifiers.kinds import JUDGES
from theorax.verifiers.settings import Settings

EXACT = Corrections(size=0, rest=0, reason="exact")
ONE = Plan((1,), EXACT, Target.LIMIT, sd=0.5, draws=200, policy=Policy.PAIRED)
SWEEP = Plan((8, 16, 32), EXACT, Target.LIMIT, sd=0.5, draws=200, policy=Policy.PAIRED)


def interval_of(declared, weights, columns):
    """The interval of the weighted mean of these columns."""
    return MeansOfDraws(declared, Columns(tuple(columns))).interval(weights)


KINDS = {
    "light tails": (LightTails(), Student),
    "range": (Bounded(0, 1), Betting),
    "variance": (BoundedVariance(0.25), Catoni),
}


@pytest.mark.parametrize("policy", [Policy.PAIRED, Policy.INDEPENDENT])
@pytest.mark.parametrize("name", KINDS)
def test_a_declaration_chooses_the_interval(name, policy, rng):
    declared, kind = KINDS[name]
    plan = declared.planned(Plan((8, 16, 32), EXACT, Target.LIMIT, sd=0.5, draws=200, policy=policy))
    interval = interval_of(declared, solve_weights(plan), list((rng.random((200, 3)) < 0.4).astype(float).T))
    assert isinstance(interval, kind)
    assert interval.lower(0.025) < 0.4 < interval.upper(0.025)


def test_two_values_are_a_proportion_at_one_size_and_a_range_at_several(rng):
    two = TwoValues(0, 1)
    columns = list((rng.random((200, 3)) < 0.4).astype(float).T)
    assert isinstance(interval_of(two, solve_weights(ONE), columns[:1]), Proportion)
    assert isinstance(interval_of(two, solve_weights(SWEEP), columns), Betting)
    # Two-valued data that are declared to have a range only stay in the hands of betting.
    assert isinstance(interval_of(Bounded(0, 1), solve_weights(ONE), columns[:1]), Betting)


def test_paired_draws_of_bounded_variance_may_add_up():
    """Fully dependent sizes: the score's variance is (sum |k| sd)^2, and the plan knows it."""
    declared = BoundedVariance((1.0, 4.0, 9.0))
    plan = declared.planned(Plan((8, 16, 32), Corrections(), Target.LIMIT, draws=200, policy=Policy.PAIRED))
    assert plan.sd == (1.0, 2.0, 3.0)
    weights = solve_weights(plan)
    assert math.isclose(weights.se, float(np.abs(weights.vector) @ [1, 2, 3]) / math.sqrt(200), rel_tol=1e-12)
    rng = np.random.default_rng(0)
    table = rng.standard_normal((200, 1)) * [1, 2, 3]
    interval = interval_of(declared, weights, list(table.T))
    assert isinstance(interval, Catoni)
    assert math.isclose(interval.variance, 200 * weights.se**2, rel_tol=1e-12)


def test_planned_widths_are_what_happens(rng):
    """Catoni's square root, and the growth of bets: each within a fifth of the measured median width."""
    for declared, tails in (
        (Bounded(0, 1), Tails.RANGE),
        (BoundedVariance(1 / 12), Tails.VARIANCE),
    ):
        plan = declared.planned(Plan((1,), EXACT, Target.LIMIT, sd=math.sqrt(1 / 12), draws=400, policy=Policy.PAIRED))
        assert plan.tails is tails
        weights = solve_weights(plan)
        radii = [interval_of(declared, weights, [rng.random(400)]).radius(0.025) for _ in range(15)]
        assert abs(weights.half_width / float(np.median(radii)) - 1) < 0.2


def test_data_that_leave_their_declaration_are_refused(rng):
    with pytest.raises(ObservationError, match="at size 16"):
        interval_of(Bounded(0, 1), solve_weights(SWEEP), [rng.random(200), 1 + rng.random(200), rng.random(200)])
    with pytest.raises(ObservationError, match="equally many"):
        interval_of(Bounded(0, 1), solve_weights(SWEEP), [rng.random(200), rng.random(100), rng.random(200)])
    with pytest.raises(Refusal, match="at least 30") as refusal:
        interval_of(LightTails(), solve_weights(ONE), [rng.random(29)])
    assert refusal.value.reason is Reason.MOMENTS_UNDECLARED


def literal_limits(values, order, level):
    """Every candidate tried: the outermost order statistics whose binomial sums exceed the level."""
    n, x = len(values), sorted(values)

    def upto(count):
        return math.fsum(math.comb(n, j) * order**j * (1 - order) ** (n - j) for j in range(count + 1))

    lower = max([-math.inf, *(x[c] for c in range(n) if upto(c) <= level)])
    upper = min([math.inf, *(x[d - 1] for d in range(1, n + 1) if 1 - upto(d - 1) <= level)])
    return lower, upper


@pytest.mark.parametrize("order", [0.5, 0.1, 0.9])
@pytest.mark.parametrize("draws", [5, 30, 100])
def test_a_quantile_lies_between_order_statistics(order, draws, rng):
    x = rng.standard_cauchy(draws)
    interval = quantile_of_draws(x, order)
    for level in (0.025, 0.2):
        assert (interval.lower(level), interval.upper(level)) == literal_limits(x, order, level)
        if math.isfinite(low := interval.lower(level)):
            assert interval.p_above(np.nextafter(low, -math.inf)) <= level < interval.p_above(low)
        if math.isfinite(top := interval.upper(level)):
            assert interval.p_below(np.nextafter(top, math.inf)) <= level < interval.p_below(top)
    assert math.isfinite(interval.lower(0.2) + interval.upper(0.2)) == (draws >= fewest_for_a_limit(order, 0.2))


def test_a_quantile_of_few_draws_decides_nothing():
    decision = decide(quantile_of_draws([1.0, 2.0, 3.0]), 2.0, 0.5)
    assert (decision.status, decision.reason) == (Status.INCONCLUSIVE, Reason.UNDERPOWERED)


def test_ties_are_safe():
    interval = quantile_of_draws([0.0] * 50 + [1.0] * 50)
    assert (interval.lower(0.025), interval.upper(0.025)) == (0.0, 1.0)
    assert interval.p_above(0.5) > 0.4
    assert planned_sd(0.5, 1.0) == pytest.approx(math.sqrt(math.pi / 2))


T = Size("T", "length")
cauchy = Measured("cauchy", "a ratio of two normal numbers")
coin = Measured("coin", "zero or one")


def build(key: Any) -> jax.Array:
    return key


def observe(key: jax.Array) -> dict[str, jax.Array]:
    up, down, coin = jax.random.split(key, 3)
    return dict(
        cauchy=1 + jax.random.normal(up) / jax.random.normal(down),
        coin=jax.random.bernoulli(coin, 0.25).astype(float),
    )


@lru_cache(maxsize=2)
def drawn(draws: int) -> Any:
    """A line and what was drawn on it: the claims below are asked of the same draws."""
    experiment = Experiment(
        padded=True,
        subjects={"numbers": Subject(build)},
        observe=observe,
        measures=(cauchy, coin),
        sweep={T: (4,)},
        draws=draws,
    )
    platform.enable()
    (line,) = sweep_lines("numbers", experiment, Settings())
    return line, measure("a theorem", experiment, line, [line], 0, Sampler())


def judged(claim: Any, draws: int = 800) -> Any:
    line, observed = drawn(draws)
    judge = JUDGES[type(claim)]
    (cell,) = judge.cells(claim, line)
    return judge.judge(claim, judge.prepare(claim, cell, DEFAULT_LEVELS, claim), observed)


def mean(of: Any, equals: Any, **more: Any) -> Expectation:
    return Expectation(of, equals, margin=Absolute(1, 5, "a fifth matters"), **more)


MANUFACTURED = {
    "median": (mean(cauchy, 1, quantile=Rational(1, 2)), Status.SUPPORTED),
    "median, wrong": (mean(cauchy, Rational(7, 10), quantile=Rational(1, 2)), Status.REFUTED),
    "proportion": (mean(coin, Rational(1, 4), moments=TwoValues(0, 1)), Status.SUPPORTED),
    "range": (mean(coin, Rational(1, 4), moments=Bounded(0, 1)), Status.SUPPORTED),
    "range, wrong": (mean(coin, Rational(11, 20), moments=Bounded(0, 1)), Status.REFUTED),
    "variance": (mean(coin, Rational(1, 4), moments=BoundedVariance(Rational(1, 4))), Status.SUPPORTED),
}


@pytest.mark.parametrize("name", MANUFACTURED)
def test_manufactured_means(name: str) -> None:
    claim, status = MANUFACTURED[name]
    assert judged(claim).decision.status is status


def test_too_few_draws_of_light_tails_stay_open() -> None:
    found = judged(mean(coin, Rational(1, 4)), draws=20)
    assert found.decision.reason is Reason.MOMENTS_UNDECLARED
    assert "at least 30 draws" in found.detail


UNMEANT = {
    "nothing declared": (lambda: mean(cauchy, 1, moments="none"), r"quantile=Rational\(1, 2\)"),
    "a word": (lambda: mean(cauchy, 1, moments="bounded"), r"Bounded\(low, high\)"),
    "limit": (
        lambda: Limit(cauchy, 1, as_=T, approach=Corrections(), margin=Absolute(1, 1, "one"), moments="none"),
        "bounded function",
    ),
    "order": (lambda: mean(cauchy, 1, quantile=Rational(3, 2)), "between 0 and 1"),
    "range": (lambda: Bounded(1, 0), "smaller number first"),
    "values": (lambda: TwoValues(1, 1), "smaller number first"),
    "variance": (lambda: BoundedVariance(0), "largest variance"),
    "no order": (lambda: quantile_of_draws([1.0], 1.0), "between 0 and 1"),
}


@pytest.mark.parametrize("name", UNMEANT)
def test_declarations_that_cannot_be_meant(name: str) -> None:
    make, because = UNMEANT[name]
    with pytest.raises(StatementError, match=because):
        make()


halving = Measured("halving", "two to the minus depth, exactly", positive=True)
noisy = Measured("noisy", "the same times a random factor", positive=True)


def sequence(key: Any, T: Any) -> Any:
    return key, T.value


def follow(model: Any) -> dict[str, Any]:
    key, depth = model
    value = jax.numpy.asarray(depth, float) ** -1.0 * (1 + 0.1 / depth)
    return dict(halving=value, noisy=value * jax.numpy.exp(jax.random.normal(key)))


@lru_cache(maxsize=2)
def sequences(letter: Measured) -> Any:
    """The same for what holds no randomness."""
    experiment = Experiment(
        padded=True,
        subjects={"sequence": Subject(sequence)},
        observe=follow,
        measures=letter,
        sweep={T: (8, 16, 32, 64, 128, 256)},
        seeds="none",
    )
    platform.enable()
    (line,) = sweep_lines("sequence", experiment, Settings())
    return line, measure("a theorem", experiment, line, [line], 0, Sampler())


def followed(claim: Any) -> Any:
    line, observed = sequences(*claim.observed)
    judge = JUDGES[type(claim)]
    (cell,) = judge.cells(claim, line)
    return judge.judge(claim, judge.prepare(claim, cell, DEFAULT_LEVELS, claim), observed)


SMOOTH = Corrections(size=0, rest=0.6, order=2, free=(1,), reason="second order of a smooth expansion")
MARGIN = dict(as_=T, approach=SMOOTH, margin=Absolute(1, 10, "a tenth"))


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        (Rate(halving, T**-1, **MARGIN), Status.SUPPORTED),
        (Rate(halving, T ** Rational(-5, 4), **MARGIN), Status.REFUTED),
        (Limit(T * halving, 1, **MARGIN), Status.SUPPORTED),
        (Limit(log(T) * T * halving / 4, 1, **MARGIN), Status.REFUTED),
    ],
)
def test_sequences_without_randomness(claim: Any, status: Status) -> None:
    found = followed(claim)
    assert found.decision.status is status
    assert found.decision.se == 0


def test_a_sequence_that_is_random_after_all_is_refused() -> None:
    with pytest.raises(ObservationError, match="depends on the key"):
        followed(Rate(noisy, T**-1, **MARGIN))
