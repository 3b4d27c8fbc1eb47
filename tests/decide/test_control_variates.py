"""Draws less what variates of known mean explain: exact means, errors of the known mean, gains, refusals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import stdtrit

from theorax import decide
from theorax.decide.control_variates import LEVEL, Variate, Variates, cross_fitted, mean_tests
from theorax.decide.means import MeanPlan
from theorax.decide.rates import RatePlan
from theorax.decide.samples import Columns
from theorax.decide.status import Reason, Status
from theorax.decide.verdict import Standing
from theorax.errors import DesignError, ObservationError

Q = Variate("q", mean=1.0, gain=20.0, because="an exponential number")
PLAN = MeanPlan(to=2.0, margin=0.1, draws=256, sd=1.02, variates=Variates((Q,)))


def drawn(seed: int, n: int = 256) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = rng.exponential(size=n)
    return 1 + q + 0.2 * rng.standard_normal(n), q


def columns(x: np.ndarray, *variates: np.ndarray) -> Columns:
    table = np.stack(variates, axis=1)
    return Columns((x,), variates=(table,), variate_errors=(np.zeros((1, table.shape[1])),))


class TestCrossFit:
    def test_each_half_takes_the_slope_of_the_other(self):
        x, q = drawn(0, 64)
        y, _ = cross_fitted(x, (q - 1)[:, None])
        for fitted, applied in ((slice(0, None, 2), slice(1, None, 2)), (slice(1, None, 2), slice(0, None, 2))):
            slope = np.cov(x[fitted], q[fitted])[0, 1] / q[fitted].var(ddof=1)
            assert np.allclose(y[applied], x[applied] - slope * (q[applied] - 1), rtol=0, atol=1e-12)

    def test_the_mean_of_many_small_samples_stays_what_it_was(self):
        # What is left is the square of the variate: the same slopes, fitted where they are applied, move the mean.
        rng, n, m = np.random.default_rng(2), 16, 4000
        c = rng.standard_normal((m, n))
        x = c + c**2 - 1
        means = np.array([cross_fitted(*pair)[0].mean() for pair in zip(x, c[:, :, None], strict=True)])
        assert abs(means.mean()) < stdtrit(m - 1, 1 - 1e-4) * means.std() / math.sqrt(m)

    def test_a_variate_that_does_not_vary_takes_nothing(self):
        x, _ = drawn(1, 64)
        y, _ = cross_fitted(x, np.full((64, 1), 0.5))
        assert (y == x).all()

    def test_the_error_of_a_variate_is_added_by_its_slope(self):
        x, q = drawn(3, 64)
        _, added = cross_fitted(x, (q - 1)[:, None], np.full((1, 1), 0.01))
        assert np.allclose(added, 0.01, rtol=0.2) and len(set(added.round(9))) == 2  # and a rounding of each draw

    @pytest.mark.parametrize("scale", [1.0, 2.0**20, 2.0**40])
    def test_a_variate_that_determines_the_draw_refutes_nothing_by_its_rounding(self, rng, scale):
        # 0.1 and 0.3 are rounded on their way into the machine: what is left of every draw is the same 1.1e-16 or so.
        q = 0.1 + rng.standard_normal(200)
        own = Variates((Variate("q", mean=0.1, gain=1e6, because="a shifted normal number"),))
        plan = MeanPlan(to=0.0, margin=scale / 10, draws=200, sd=3.0, variates=own)
        assert plan.tested(columns(scale * (3 * q - 0.3), q)).decision.status is not Status.REFUTED

    def test_a_scale_changes_nothing_else(self):
        x, q = drawn(4, 64)
        y, _ = cross_fitted(x, (q - 1)[:, None])
        z, _ = cross_fitted(1e-150 * x, 1e150 * (q - 1)[:, None])
        assert np.allclose(z / 1e-150, y, rtol=1e-9)


class TestPlan:
    def test_fewer_draws_are_planned(self):
        raw = replace(PLAN, variates=Variates())
        assert PLAN.half_width == pytest.approx(raw.half_width / math.sqrt(20))
        assert PLAN.cheapest().draws < raw.cheapest().draws / 10

    def test_the_cheapest_design_has_draws_enough_for_its_variates(self):
        assert replace(PLAN, margin=2.0).cheapest().draws == 64
        assert replace(PLAN, draws=16).cheapest().draws == PLAN.cheapest().draws

    def test_few_draws_are_planned_as_they_come(self):
        few = replace(PLAN, draws=63)
        assert few.planned_spreads == (1.02,) and few.planned_gain.raw

    def test_the_known_mean_is_part_of_the_hash(self):
        assert replace(PLAN, variates=Variates((replace(Q, mean=1.01),))).hash != PLAN.hash

    def test_the_plan_says_its_variates(self):
        assert "variate     E[q] = 1 (an exponential number); variance divided by 20, planned" in str(PLAN)

    @pytest.mark.parametrize("moments", [decide.Bounded(0, 9), decide.BoundedVariance(2)])
    def test_a_declared_range_is_refused(self, moments):
        with pytest.raises(DesignError, match="Once they are taken away"):
            decide.plan_mean(to=2, margin=0.1, draws=256, moments=moments, variates=[Q])

    def test_a_known_mean_at_each_size_is_extended_to_no_other(self):
        many = decide.plan_limit(
            [8, 16, 32], to=1, margin=0.3, draws=64, sd=1, variates=[Variate("q", (1.0, 1.1, 1.2), gain=4)]
        )
        found = many.cheapest()
        assert found is None or found.sizes == many.sizes
        with pytest.raises(DesignError, match="2 means"):
            decide.plan_limit([8, 16, 32], to=1, margin=0.3, sd=1, variates=[Variate("q", (1.0, 1.1))])

    @pytest.mark.parametrize("wrong", [{"mean": math.inf}, {"mean": 1.0, "gain": 0.5}])
    def test_a_wrong_variate_is_refused(self, wrong):
        with pytest.raises(DesignError):
            Variate("q", **wrong)

    def test_looks_take_no_variates(self):
        with pytest.raises(DesignError, match="A look is handed the values"):
            decide.plan_looks(PLAN)


class TestVerdict:
    def test_support_where_raw_draws_leave_it_open(self):
        x, q = drawn(5)
        verdict = decide.mean(PLAN, x, variates={"q": q})
        assert verdict.status is Status.SUPPORTED
        assert decide.mean(replace(PLAN, variates=Variates()), x).status is Status.INCONCLUSIVE
        gain = verdict.cases[0].gain
        assert gain.planned == pytest.approx(20) and abs(gain.measured - 26) < 4 * gain.error
        assert "variance divided by" in str(verdict)

    def test_the_error_of_a_gain_is_that_of_repetitions(self):
        gains = [PLAN.tested(columns(*drawn(seed))).gain for seed in range(200)]
        spread = np.std([gain.measured for gain in gains], ddof=1)
        assert np.mean([gain.error for gain in gains]) == pytest.approx(spread, rel=0.3)

    def test_a_wrong_known_mean_is_an_error_with_its_numbers(self):
        x, q = drawn(6)
        wrong = replace(PLAN, variates=Variates((replace(Q, mean=1.5),)))
        verdict = decide.mean(wrong, x, variates={"q": q})
        assert verdict.status is Status.ERROR
        assert "The known mean of q is wrong" in verdict.sentence and "stated is 1.5" in verdict.sentence

    def test_the_ledger_says_what_would_pass(self):
        x, q = drawn(7)
        ledger = {line.kind: line for line in decide.mean(PLAN, x, variates={"q": q}).ledger}
        assert ledger["known mean"].checked is Standing.DECLARED
        assert ledger["sample means"].checked is Standing.TESTED and "would pass" in ledger["sample means"].text

    def test_a_variate_too_skewed_to_be_tested_withholds_support(self):
        rng = np.random.default_rng(8)
        q = (rng.random(128) < 0.01).astype(float)
        q[3] = 1.0
        x = rng.standard_normal(128)
        plan = MeanPlan(to=0.0, margin=1.0, draws=128, sd=1.0, variates=Variates((Variate("spike", 0.01),)))
        verdict = decide.mean(plan, x, variates={"spike": q})
        assert verdict.status is Status.INCONCLUSIVE and verdict.reason is Reason.TAILS
        assert "too skewed" in verdict.sentence

    def test_few_draws_stay_as_they_are(self):
        x, q = drawn(9, 63)
        few = replace(PLAN, draws=63)
        found = few.tested(columns(x, q))
        assert found.decision == replace(few, variates=Variates()).tested(Columns((x,))).decision
        assert "fewer than 64 draws" in found.gain.raw

    def test_a_skewed_variate_refutes_no_more_than_its_skewness_allows(self):
        """Student's limits alone would refute this true mean on one side in twelve samples of a hundred."""
        rng, refuted = np.random.default_rng(10), 0
        plan = MeanPlan(to=0.0, margin=0.5, draws=64, sd=0.5, variates=Variates((Variate("q", 16**2 / (14 * 12)),)))
        centre = -0.06380  # of log chi^2_16/16: digamma(8) - log 8
        for _ in range(400):
            q = rng.chisquare(16, 64) / 16
            refuted += plan.tested(columns(np.log(q) - centre, q**-2)).decision.status is Status.REFUTED
        assert refuted <= 21  # the 99.9 % quantile of the binomial law at 0.025

    @pytest.mark.parametrize("given", [None, {}, {"p": np.ones(256)}, {"q": np.ones(256), "p": np.ones(256)}])
    def test_other_variates_than_planned_are_refused(self, given):
        with pytest.raises(ObservationError, match="q were planned"):
            decide.mean(PLAN, drawn(0)[0], variates=given)

    def test_variates_without_a_plan_are_refused(self):
        with pytest.raises(ObservationError, match="none were planned"):
            decide.mean(replace(PLAN, variates=Variates()), drawn(0)[0], variates={"q": drawn(0)[1]})


class TestSweeps:
    SIZES = (8.0, 16.0, 32.0, 64.0)

    def table(self, seed: int, *, paired: bool) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        q = rng.lognormal(0, 0.5, (128, 1) if paired else (128, 4)) * np.ones((128, 4))
        return q * rng.lognormal(0, 0.05, (128, 4)) / np.array(self.SIZES), q

    @pytest.mark.parametrize("average", ["mean of log", "log of mean"])
    @pytest.mark.parametrize("paired", [True, False])
    def test_rates_take_variates_from_what_they_average(self, average, paired):
        values, q = self.table(1, paired=paired)
        known = np.log(q) if average == "mean of log" else q
        mean = 0.0 if average == "mean of log" else math.exp(0.125)
        plan = decide.plan_rate(
            self.SIZES, exponent=-1, margin=0.5, draws=128, sd=0.5, average=average,
            seeds="paired" if paired else "independent", variates=[Variate("q", mean, gain=50)],
        )  # fmt: skip
        verdict = decide.rate(plan, values, variates={"q": known})
        gain = verdict.cases[0].gain
        assert not gain.raw
        # Paired draws share the noise already: a difference of sizes has none of it.
        assert gain.measured > 20 if not paired else gain.measured == pytest.approx(1, abs=0.5)

    def test_a_limit_takes_variates(self):
        values, q = self.table(2, paired=False)
        plan = decide.plan_limit(
            self.SIZES,
            to=math.exp(0.12625),
            margin=0.8,
            draws=128,
            sd=0.6,
            corrections=None,
            variates=[Variate("q", math.exp(0.125), gain=50)],
        )
        verdict = decide.limit(plan, values * np.array(self.SIZES), variates={"q": q})
        assert verdict.cases[0].gain.measured > 20

    def test_a_corrected_mean_below_zero_has_no_logarithm(self):
        q = np.random.default_rng(3).exponential(size=(64, 3))
        observed = Columns(tuple(q.T), variates=tuple(q.T[:, :, None]), variate_errors=(np.zeros((1, 1)),) * 3)
        # The slope is one, so what is left has the stated mean: no logarithm where that is below zero.
        plan = RatePlan(sizes=(8.0, 16.0, 32.0), exponent=0.0, margin=0.5, draws=64, sd=0.9, average="log of mean")
        below, above = (
            replace(plan, variates=Variates((Variate("q", mean),))).tested(observed) for mean in (-5.0, 5.0)
        )
        assert "not positive" in below.gain.raw and not above.gain.raw
        assert below.decision == plan.tested(observed).decision


def test_true_means_are_rarely_called_wrong():
    """In 2000 samples of four laws at level 1e-4 each, more than five alarms have probability below 1e-3 at 8e-4."""
    rng, alarms = np.random.default_rng(11), 0
    for draw, mean in (
        (lambda: rng.standard_normal(64), 0.0),
        (lambda: rng.exponential(size=64), 1.0),
        (lambda: rng.lognormal(0, 0.5, 64), math.exp(0.125)),
        (lambda: (rng.chisquare(128, 64) / 128) ** -2, 128**2 / (126 * 124)),
    ):
        known = Variates((Variate("q", mean),))
        for _ in range(500):
            q = draw()
            (test,) = mean_tests(known, columns(q, q), (q,), (1.0,))
            alarms += test.p <= LEVEL
    assert alarms <= 5
