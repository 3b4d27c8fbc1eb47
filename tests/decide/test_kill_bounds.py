"""Bounds of a kill probability, against exact laws; how often they err is in `benchmarks/calibration/controls.py`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from theorax.decide.kill_bounds import (
    DEMANDED,
    ERROR,
    FEWEST,
    HEAVY,
    MOST,
    REPEATED,
    REPEATING,
    REPETITIONS,
    SINGLE,
    SKEWED,
    RefutingCount,
    Standardised,
    kill_bound,
)
from theorax.decide.kill_evidence import Basis
from theorax.decide.means import plan_mean
from theorax.decide.samples import Columns


def run(distance, draws=400, skewness=0.0, kurtosis=0.0):
    return Standardised(distance, float(stats.t.isf(0.0125, draws - 1)), draws - 1.0, draws, skewness, kurtosis)


def test_the_tries_spend_no_more_than_the_error():
    assert REPEATING * REPEATED + SINGLE <= ERROR
    assert DEMANDED <= REPEATED ** (1 / REPETITIONS)
    assert RefutingCount(REPETITIONS - 1, REPETITIONS, 0.5, 0.5).bound(REPEATED, 1) < DEMANDED


@pytest.mark.parametrize("draws", [60, 200, 400, 3000])
@pytest.mark.parametrize("distance", [3.0, 5.0, 8.0, 20.0])
def test_of_normal_draws_it_lies_below_the_exact_bound(distance, draws):
    """The exact one inverts the noncentral law of Student's ratio."""
    case, level = run(distance, draws), 0.01
    least = brentq(lambda d: stats.nct.sf(distance, draws - 1, d) - level, -10, distance + 10)
    exact = stats.nct.sf(case.quantile, draws - 1, least)
    assert case.bound(level, draws) <= exact


def test_it_grows_with_the_distance_and_the_level_and_ends_where_normality_does():
    bounds = [run(distance).bound(0.003, 400) for distance in (0.0, 3.0, 5.0, 8.0, 50.0, 5000.0)]
    assert bounds == sorted(bounds)
    assert bounds[0] == 0 and bounds[-1] == MOST
    assert run(7.0).bound(0.003, 400) < run(7.0).bound(0.05, 400)


@pytest.mark.parametrize(
    "unknown",
    [
        {"draws": FEWEST - 1}, {"skewness": SKEWED}, {"skewness": -SKEWED}, {"kurtosis": HEAVY},
        {"kurtosis": float("nan")}, {"skewness": float("nan")}, {"distance": float("nan")}, {"distance": float("inf")},
    ],
)  # fmt: skip
def test_nothing_is_concluded_where_normality_is_not_shown(unknown):
    assert run(**{"distance": 30.0} | unknown).bound(0.003, 400) == 0


def test_a_refutation_says_how_far_it_lies_beyond_the_margin(rng):
    x = 1 + rng.standard_normal(500)
    for reading in ("exact", "margin"):
        plan = plan_mean(to=0.0, margin=0.3, draws=500, sd=1.0, reading=reading)
        again = plan.tested(Columns((x,))).decision.again
        assert again.distance == pytest.approx((x.mean() - 0.3) / stats.sem(x))
        assert again.quantile == pytest.approx(stats.t.isf(0.0125, 499))
        assert again.skewness == pytest.approx(stats.skew(x) * (499 / 500) ** 1.5 / 500**0.5)
        assert again.kurtosis == pytest.approx(stats.kurtosis(x))
        mirrored = plan.tested(Columns((-x,))).decision.again
        assert mirrored.distance == pytest.approx(again.distance)
    assert plan.tested(Columns((x - x.mean(),))).decision.again is None


@pytest.mark.parametrize(("violations", "shown"), [(0, False), (1, False), (4, False), (5, True), (9, True)])
def test_five_violations_in_a_run_show_what_one_does_not(violations, shown):
    bound = RefutingCount(violations, 500, 0.0, 0.025).bound(0.05, 500)
    assert (bound >= DEMANDED) == shown
    least = stats.beta.ppf(0.05, violations, 501 - violations) if violations else 0.0
    assert bound == pytest.approx(1 - (1 - least) ** 500)


def test_counts_are_bounded_for_the_claims_own_draws():
    case = RefutingCount(30, 100, 0.1, 0.025)
    needed = next(k for k in range(402) if stats.binom.sf(k - 1, 400, 0.1) <= 0.025)
    least = stats.beta.ppf(0.01, 30, 71)
    assert case.bound(0.01, 400) == pytest.approx(stats.binom.sf(needed - 1, 400, least))
    assert RefutingCount(3, 3, 0.9, 1e-9).bound(0.01, 3) == 0  # no count of three refutes


@dataclass
class Stub:
    """A control of which portions of some sizes refute, and one run says what it is told to."""

    own: int = 840
    refuting: tuple[int, ...] = ()
    distance: float = 0.0
    kills: int = REPETITIONS
    fewest: int = 4
    fewest_of_one_run: int | None = FEWEST
    counted: int = 840
    made: list[int] = field(default_factory=list)

    def again(self, draws):
        return ([run(self.distance, draws)] if self.distance else []), 1

    def ahead(self, draws):
        self.made.append(draws)

    def refutes(self, first, draws):
        return draws in self.refuting

    def is_killed(self, first, draws):
        return first // draws < self.kills


@pytest.mark.parametrize(
    ("control", "basis", "draws", "made"),
    [
        (Stub(distance=30.0), Basis.STATISTIC, 210, []),
        (Stub(distance=30.0, own=200, refuting=(4,)), Basis.REPETITIONS, 4, [4 * REPETITIONS]),
        (Stub(distance=30.0, own=200), Basis.STATISTIC, 100, []),
        (Stub(distance=30.0, own=FEWEST), Basis.STATISTIC, FEWEST, []),
        (Stub(distance=30.0, own=FEWEST - 1), Basis.REPETITIONS, FEWEST - 1, [(FEWEST - 1) * REPETITIONS]),
        (Stub(refuting=(243,)), Basis.REPETITIONS, 243, [243 * REPETITIONS]),
        (Stub(), Basis.REPETITIONS, 840, [840 * REPETITIONS]),
        (Stub(own=4), Basis.REPETITIONS, 4, [4 * REPETITIONS]),
    ],
)
def test_the_cheapest_try_that_shows_it_ends_the_draws(control, basis, draws, made):
    found = kill_bound(control)
    assert (found.basis, found.draws, control.made) == (basis, draws, made)
    assert found.probability >= DEMANDED


def test_a_run_beyond_the_design_speaks_of_the_design():
    """Four times the draws halve the standard error: what they show is worth half of its distance there."""
    alone, beyond = run(6.0, 256), run(12.0, 4 * 256)
    assert alone.bound(0.002, 256) < beyond.bound(0.002, 256) < run(12.0, 256).bound(0.002, 256)
    assert beyond.bound(0.002, FEWEST - 1) == 0
    assert kill_bound(Stub(distance=0.0, own=100)).draws == 100


def test_one_miss_of_the_whole_design_is_one_too_many():
    found = kill_bound(Stub(kills=REPETITIONS - 1))
    assert (found.runs, found.kills) == (REPETITIONS, REPETITIONS - 1)
    assert found.probability < DEMANDED


def test_draws_without_a_spread_have_no_statistic():
    plan = plan_mean(to=0.0, margin=0.3, draws=300, sd=1.0)
    assert plan.tested(Columns((np.ones(300),))).decision.again is None
