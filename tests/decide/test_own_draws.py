"""Own draws: means, quantiles, probabilities, laws, and the summaries that any number of draws are kept as."""

from dataclasses import replace

import numpy as np
import pytest
import sweeps
from sweeps import SIZES, power_law

from theorax import decide
from theorax.decide import streams
from theorax.decide.streams import RunningMoments
from theorax.errors import DesignError, ObservationError


@pytest.fixture
def plan():
    return sweeps.rate_plan()


class TestMean:
    @pytest.mark.parametrize("moments", ["light tails", decide.Bounded(0, 1), decide.BoundedVariance(0.1)], ids=str)
    def test_means(self, moments, rng):
        plan = decide.plan_mean(to=0.5, margin=0.1, draws=1000, sd=0.3, moments=moments)
        values = rng.random(1000)
        assert decide.mean(plan, values).status == "SUPPORTED"
        assert decide.mean(replace(plan, to=0.8), values).status == "REFUTED"
        assert decide.mean(replace(plan, to=0.8, side="at most"), values).status == "SUPPORTED"

    def test_two_values(self, rng):
        plan = decide.plan_mean(to=0.05, margin=0.04, draws=1000, moments=decide.TwoValues())
        assert decide.mean(plan, rng.random(1000) < 0.05).status == "SUPPORTED"

    def test_a_median_needs_no_moments(self, rng):
        plan = decide.plan_quantile(to=0.0, margin=0.3, draws=1000)
        values = rng.standard_cauchy(1000)
        assert decide.quantile(plan, values).status == "SUPPORTED"
        assert decide.quantile(replace(plan, to=1.0), values).status == "REFUTED"
        with pytest.raises(DesignError, match="unbounded"):
            decide.plan_quantile(to=0.0, margin=0.3, draws=4)

    def test_what_was_not_planned(self, rng):
        plan = decide.plan_mean(to=0.5, margin=0.1, draws=100, sd=0.3)
        with pytest.raises(ObservationError, match=r"shape \(99,\)"):
            decide.mean(plan, rng.random(99))
        with pytest.raises(ObservationError, match="Draw 1 is nan"):
            decide.mean(plan, np.full(100, np.nan))


class TestCounts:
    def test_a_probability(self, rng):
        plan = decide.plan_probability(at_least=0.95, margin=0.02, draws=3000)
        assert decide.probability(plan, rng.random(3000) < 0.97).status == "SUPPORTED"
        assert decide.probability(plan, rng.random(3000) < 0.9).status == "REFUTED"
        assert decide.probability(replace(plan, draws=30), rng.random(30) < 0.9).status == "INCONCLUSIVE"

    def test_more_outcomes_than_planned_are_refused(self):
        plan = decide.plan_probability(at_least=0.9, margin=0.1, draws=10)
        with pytest.raises(ObservationError, match="or plan 11 before the next data"):
            decide.probability(plan, np.ones(11))
        with pytest.raises(ObservationError, match="An event happens or does not"):
            decide.probability(plan, np.full(10, 0.5))

    def test_a_bound_in_every_row(self, rng):
        plan = decide.plan_inequality(draws=500)
        left = rng.random(500)
        assert decide.inequality(plan, left, 1.0).status == "SUPPORTED"
        assert decide.inequality(plan, left, 0.9).status == "REFUTED"
        rounded = decide.inequality(plan, left, left - 1e-12, errors=1e-9)
        assert rounded.status == "INCONCLUSIVE" and "within the declared errors" in rounded.sentence
        assert decide.inequality(replace(plan, draws=50), left[:50], 1.0).status == "INCONCLUSIVE"
        with pytest.raises(ObservationError, match="row 3 is nan"):
            decide.inequality(replace(plan, draws=3), [0, 0, np.nan], 1.0)

    def test_one_row_that_its_error_may_carry_over_leaves_a_bound_open(self, rng):
        plan, left = decide.plan_inequality(draws=500), -1 - rng.random(500)
        left[7] = -1e-12
        assert decide.inequality(plan, left, 0.0).status == "SUPPORTED"
        doubtful = decide.inequality(plan, left, 0.0, errors=1e-9)
        assert (doubtful.status, doubtful.reason) == ("INCONCLUSIVE", "numeric_floor")

    @pytest.mark.parametrize("share", [0.5, 0.02, 1e-4])
    def test_what_no_violation_leaves_open(self, share):
        fewest = decide.plan_inequality(draws=1, share=share, reading="exact").cheapest()
        assert fewest.decides and not replace(fewest, draws=fewest.draws - 1).decides
        # The share that the interval of Clopper and Pearson leaves open, and the power of its test, by their definitions.
        assert (1 - fewest.half_width) ** fewest.draws == pytest.approx(fewest.levels.support)
        assert 1 - (1 - fewest.noticeable) ** fewest.draws == pytest.approx(0.9)
        weak = decide.plan_inequality(draws=fewest.draws - 1, share=share, reading="exact")
        assert str(fewest.draws) in weak.weakness and not fewest.weakness

    def test_the_cheapest_plan_decides(self):
        weak = decide.plan_probability(at_least=0.99, margin=0.01, draws=100)
        assert not weak.decides and weak.cheapest().decides and weak.cheapest().power() >= 0.8


class TestLaw:
    def test_one_size(self, rng):
        plan = decide.plan_law(to=decide.Normal(), draws=20_000)
        values = rng.standard_normal(20_000)
        assert decide.law(plan, values).status == "SUPPORTED"
        assert decide.law(plan, 1.1 * values).status == "REFUTED"

    @pytest.mark.parametrize("law", [decide.Normal(1, 2), decide.Uniform(-1, 3), decide.Exponential(2)])
    def test_characteristic_functions_against_draws(self, law, rng):
        draws = {
            decide.Normal: lambda: rng.normal(1, 2, 40_000),
            decide.Uniform: lambda: rng.uniform(-1, 3, 40_000),
            decide.Exponential: lambda: rng.exponential(2, 40_000),
        }[type(law)]()
        plan = decide.plan_law(to=law, draws=40_000)
        assert decide.law(plan, draws).status == "SUPPORTED"
        assert str(law.wider(1.0)) == str(law)

    def test_two_samples(self, rng):
        plan = decide.plan_law(to=decide.Sample(30_000, 1.0), draws=30_000, margin=0.04)
        first, second = rng.standard_normal((2, 30_000))
        assert decide.law(plan, first, second).status == "SUPPORTED"
        assert decide.law(plan, 1.5 * first, second).status == "REFUTED"
        for reference in (None, second[:-1]):
            with pytest.raises(ObservationError, match="reference draws"):
                decide.law(plan, first, reference)

    def test_variances_given_what_a_draw_holds(self, rng):
        n = np.array([16, 32, 64, 128, 256])
        allowed = decide.Corrections(size=0.05, slowest=1, reason="an expansion of the moments in 1/n")
        plan = decide.plan_law(n, to=decide.Normal(), draws=500, sd=0.1, conditional=True, corrections=allowed)
        mixture = 1 + 0.6 * (rng.chisquare(n, (500, 5)) / n - 1)
        assert decide.law(plan, mixture).status == "SUPPORTED"
        assert decide.law(replace(plan, to=decide.Normal(0, 1.1)), mixture).status == "REFUTED"

    def test_what_cannot_be_planned(self):
        with pytest.raises(DesignError, match="No class of corrections"):
            decide.plan_law([8, 16, 32], to=decide.Normal(), draws=100)
        with pytest.raises(DesignError, match="is no law"):
            decide.plan_law(to="normal", draws=100)
        with pytest.raises(DesignError, match="standard deviation"):
            decide.Normal(0, -1)


def test_running_moments_are_merged(rng):
    sample = 5 + rng.standard_normal(1000)
    merged = RunningMoments()
    for part in np.split(sample, [0, 1, 17, 500]):
        merged = merged + RunningMoments.of(part)
    whole = RunningMoments.of(sample)
    assert merged.count == whole.count
    assert (merged.mean, merged.squares) == pytest.approx((whole.mean, whole.squares), rel=1000 * 2.0**-50)


def test_draws_that_come_in_pieces(plan, rng):
    values = power_law(rng, plan)
    stream = decide.Stream(logs=True)
    for row in values:
        stream.add(np.array(plan.sizes), row)
    assert decide.rate(plan, stream) == decide.rate(plan, values)
    stream.add(np.array([32.0]), np.array([1.0]))
    with pytest.raises(ObservationError, match="The stream holds 65 draws at n = 32, the plan 64"):
        decide.rate(plan, stream)
    limit = decide.plan_limit(plan.sizes, to=1.0, margin=0.5, draws=64, sd=0.3)
    stream = decide.Stream(logs=False)
    stream.add(np.tile(SIZES, 64), rng.normal(1, 0.3, 64 * 9))
    assert decide.limit(limit, stream).status == "SUPPORTED"


def test_memory_does_not_grow_with_the_number_of_draws(plan, rng):
    stream = streams.Stream(logs=True)
    stream._values = None  # as after the first 2^20 draws
    for _ in range(20):
        stream.add(np.tile(plan.sizes, 100), rng.lognormal(0, 0.2, 100 * len(plan.sizes)))
    assert sum(map(len, stream._sums.values())) == len(plan.sizes) * streams.BATCHES
    assert stream.columns.batched and set(stream.counts.values()) == {2000}


@pytest.mark.parametrize("seeds", ["paired", "independent"])
def test_draws_that_are_averaged_in_batches(seeds, rng, monkeypatch):
    """As many batches as draws: the batch means are the draws. Fewer: the mean is the same, its spread near."""
    plan = decide.plan_limit(SIZES, to=1.0, margin=0.5, draws=64, sd=0.3, seeds=seeds)
    values = rng.normal(1, 0.3, (64, 9))
    whole = decide.limit(plan, values)
    monkeypatch.setattr("theorax.decide.streams.KEPT", 0)
    for batches in (64, 32):
        monkeypatch.setattr("theorax.decide.streams.BATCHES", batches)
        stream = decide.Stream(logs=False)
        stream.add(np.tile(SIZES, 64), values.ravel())
        found = decide.limit(plan, stream)
        # Sums of 64 terms below 3, with weights of total size below 4.
        assert found.cases[0].estimate == pytest.approx(whole.cases[0].estimate, abs=64 * 16 * 2.0**-52)
        assert [point.draws for point in found.cases[0].points] == [64] * 9
        if batches == 64:
            assert found.cases[0].standard_error == pytest.approx(whole.cases[0].standard_error, rel=1e-12)
    with pytest.raises(ObservationError, match="keep=True"):
        decide.limit(replace(plan, moments=decide.Bounded(-1, 3)), stream)
    average = decide.plan_mean(to=1.0, margin=0.5, draws=576, sd=0.3)
    stream = decide.Stream(logs=False)
    stream.add(np.ones(576), values.ravel())
    assert decide.mean(average, stream).cases[0].estimate == pytest.approx(values.mean(), rel=1e-13)
    with pytest.raises(ObservationError, match="keep=True"):
        decide.quantile(decide.plan_quantile(to=1.0, margin=0.5, draws=576), stream)
