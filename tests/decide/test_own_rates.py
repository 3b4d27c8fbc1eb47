"""Rates of own numbers: what is supported, what is refused, and what must not matter."""

from dataclasses import replace

import numpy as np
import pytest
import sweeps
from sweeps import SIZES, power_law

from theorax import decide
from theorax.errors import ObservationError


@pytest.fixture
def plan():
    return sweeps.rate_plan()


class TestRate:
    def test_a_true_rate_is_supported_and_a_wrong_one_refuted(self, plan, rng):
        values = power_law(rng, plan)
        assert decide.rate(plan, values).status == "SUPPORTED"
        assert decide.rate(replace(plan, exponent=-1.3), values).status == "REFUTED"

    def test_the_verdict_is_complete(self, plan, rng):
        verdict = decide.rate(plan, power_law(rng, plan))
        case = verdict.cases[verdict.worst]
        assert verdict.design_hash == plan.hash and verdict.kind == "rate" and verdict.as_ == "n"
        assert {part.kind for part in verdict.ledger} == {
            "class",
            "moment",
            "independence",
            "float model",
            "spread",
            "sizes",
            "order",
        }
        assert verdict.draws == 64 * 9 and verdict.sizes == SIZES and len(case.points) == 9
        assert case.interval[0] < -1 < case.interval[1] and case.breakdown > 1
        assert any("plateau" in part for part in verdict.unseen)
        assert 0 <= verdict.p_support <= 0.025 < verdict.p_refute

    def test_one_sided_rates(self, plan, rng):
        fast = power_law(rng, plan, exponent=-1.5)
        assert decide.rate(replace(plan, side="at most"), fast).status == "SUPPORTED"
        assert decide.rate(replace(plan, side="at least"), fast).status == "REFUTED"

    def test_exponentials(self, rng):
        plan = decide.plan_rate(
            np.linspace(3, 60, 8),
            exponent=-0.3,
            margin=0.03,
            form="exponential",
            corrections=decide.Corrections(size=0, rest=0, log=1, reason="a polynomial prefactor"),
        )
        n = np.array(plan.sizes)
        values = np.exp(-0.3 * n) * n**0.5 * rng.lognormal(0, 0.2, (32, len(n)))
        assert decide.rate(plan, values).status == "SUPPORTED"
        assert decide.rate(replace(plan, exponent=-0.4), values).status == "REFUTED"

    def test_what_lies_below_the_floor_is_not_read(self, plan, rng):
        floor = 1 / 20_000
        values = power_law(rng, plan, sd=0.05) + floor
        guarded = decide.rate(replace(plan, floor=floor), values)
        assert decide.rate(plan, values).status != "SUPPORTED"
        assert guarded.status != "REFUTED"
        assert any("largest sizes" in part for part in guarded.unseen)
        nothing = decide.rate(replace(plan, floor=1.0), values)
        assert (nothing.status, nothing.reason) == ("INCONCLUSIVE", "numeric_floor")

    def test_log_of_mean(self, plan, rng):
        values = power_law(rng, plan)
        for seeds in ("paired", "independent"):
            assert decide.rate(replace(plan, average="log of mean", seeds=seeds), values).status == "SUPPORTED"

    def test_an_exponential_does_not_fit_the_class_of_a_power(self, plan, rng):
        n = np.array(SIZES)
        values = np.exp(-0.01 * n) * rng.lognormal(0, 0.2, (64, 9))
        verdict = decide.rate(plan, values)
        assert verdict.status == "REFUTED" and "contradict the declared class" in verdict.sentence
        near = decide.rate(replace(plan, exponent=verdict.cases[0].estimate), values)
        assert (near.status, near.reason) == ("INCONCLUSIVE", "class_refuted")

    def test_a_power_that_an_exponential_fits_as_well_is_not_supported(self, rng):
        sizes = np.linspace(10, 20, 6)
        plan = decide.plan_rate(
            sizes, exponent=-1, margin=0.2, sd=0.01, corrections=decide.Corrections(0.0, reason="an exact law")
        )
        values = sizes**-1.0 * rng.lognormal(0, 0.01, (32, 6))
        assert decide.rate(plan, values).status == "SUPPORTED"
        assert decide.rate(replace(plan, rival=(-0.3, -0.2)), values).status == "SUPPORTED"
        assert decide.rate(replace(plan, rival=(-0.3, -0.01)), values).status == "INCONCLUSIVE"

    def test_soft_orders_are_wider(self, plan):
        soft = replace(plan, side="at most", corrections=decide.Corrections(loglog=1))
        assert soft.bias > plan.bias

    def test_columns_and_tables_are_the_same_data(self, plan, rng):
        values = power_law(rng, plan)
        assert decide.rate(plan, values) == decide.rate(plan, list(values.T))

    @pytest.mark.parametrize(
        ("spoil", "said"),
        [
            (lambda v: v[:-1], "63 draws at n = 32 (size 1), the plan 64"),
            (lambda v: np.concatenate([v, v]), "hold 128 draws"),
            (lambda v: v[:, 1:], "Write a table draws x sizes, 9 columns wide"),
            (lambda v: v.T, "It looks transposed"),
            (lambda v: v[0], "shape (9,)"),
            (lambda v: list(v.T)[:4], "4 arrays of draws where the plan has 9 sizes"),
            (lambda v: [["a"] * 64] * 9, "no array of numbers"),
            (lambda v: v * 1j, "no array of numbers"),
            (lambda v: [[[1.0]] * 64] * 9, "one per size"),
            (lambda v: 3.0, "A float was given"),
            (lambda v: v[:0], "are empty"),
        ],
    )
    def test_shapes_that_are_not_planned(self, plan, rng, spoil, said):
        with pytest.raises(ObservationError) as told:
            decide.rate(plan, spoil(power_law(rng, plan)))
        assert said in str(told.value)

    @pytest.mark.parametrize(
        ("value", "said"),
        [(np.nan, "is nan. No mean"), (np.inf, "is inf. No mean"), (0.0, "is 0. A rate"), (-1, "is -1. A rate")],
    )
    def test_values_that_have_no_logarithm(self, plan, rng, value, said):
        values = power_law(rng, plan)
        values[16, 2] = value
        with pytest.raises(ObservationError) as told:
            decide.rate(plan, values)
        assert f"Draw 17 at n = 128 (size 3) {said}" in str(told.value)

    def test_rescaling_changes_nothing(self, plan, rng):
        values = power_law(rng, plan)
        first, second = decide.rate(plan, values), decide.rate(plan, 1e-7 * values)
        assert first.status == second.status
        # The estimate is a difference of logarithms near 16, with weights of total size below 2.
        assert first.cases[0].interval == pytest.approx(second.cases[0].interval, abs=64 * 16 * 2.0**-52)

    def test_monotone_in_the_margin(self, plan, rng):
        values = power_law(rng, plan, exponent=-1.05)
        supported = [
            decide.rate(replace(plan, margin=margin), values).p_support for margin in (0.05, 0.1, 0.15, 0.2, 0.4)
        ]
        assert supported == sorted(supported, reverse=True)


class TestMetamorphic:
    """What must not change when the data or the claim are told in another way."""

    CLAIMS = tuple(np.linspace(-1.3, -0.7, 13))

    def test_claim_and_negation_are_never_both_supported(self, plan, rng):
        """Two margins apart, the ranges of exponents that two claims leave are disjoint."""
        far, near = -1 - 2 * plan.margin, -1
        for exponent in self.CLAIMS:
            values = power_law(rng, plan, exponent=exponent)
            for first, second in (("exact", "exact"), ("at most", "at least")):
                steep = decide.rate(replace(plan, side=first, exponent=far), values).status
                flat = decide.rate(replace(plan, side=second, exponent=near), values).status
                assert {steep, flat} != {"SUPPORTED"}

    def test_a_wider_margin_never_loses_support(self, plan, rng):
        for exponent in self.CLAIMS:
            values = power_law(rng, plan, exponent=exponent)
            for reading in decide.Reading:
                plans = [replace(plan, margin=m, reading=reading) for m in (0.06, 0.1, 0.2, 0.3)]
                statuses = [decide.rate(wider, values).status for wider in plans]
                supported, refuted = ([status == word for status in statuses] for word in ("SUPPORTED", "REFUTED"))
                assert supported == sorted(supported)
                assert refuted == sorted(refuted, reverse=True)
                # Read exactly, the margin is no part of a refutation.
                assert reading is decide.Reading.MARGIN or len(set(refuted)) == 1

    def test_a_larger_class_never_decides_more(self, plan, rng):
        """For the same weights: other weights are another estimate of the same data."""
        from theorax.decide.bias_aware import bias_of
        from theorax.decide.equivalence import decide as decided
        from theorax.decide.estimators import paired
        from theorax.decide.status import Status

        weights = plan.weights
        for exponent in self.CLAIMS:
            logs = np.log(power_law(rng, plan, exponent=exponent))
            open_ = []
            for factor in (0.0, 0.5, 1.0, 2.0, 4.0):
                larger = replace(plan.core, corrections=decide.Corrections(0.5 * factor, rest=0.1 * factor, reason="x"))
                interval = paired(logs, weights.vector, bias_of(larger, weights.vector).total)
                open_.append(decided(interval, 1.0, 0.1).status is Status.INCONCLUSIVE)
            assert open_ == sorted(open_)

    def test_the_order_of_the_draws_is_of_no_account(self, plan, rng):
        values = power_law(rng, plan)
        first, second = decide.rate(plan, values), decide.rate(plan, rng.permutation(values))
        assert first.status == second.status
        # Sums of 64 terms below 16 in size, in another order.
        assert first.cases[0].estimate == pytest.approx(second.cases[0].estimate, abs=64 * 16 * 2.0**-52)

    def test_replay_is_bitwise(self, plan, rng):
        values = power_law(rng, plan)
        assert str(decide.rate(plan, values)) == str(decide.rate(plan, values.copy()))


@pytest.mark.parametrize("seeds", ["none", "independent"])
@pytest.mark.parametrize("sd", [0.1, [0.1, 0.1, 0.1]], ids=["one", "each"])
def test_a_design_that_decides_is_proposed_for_as_many_spreads_as_sizes(seeds, sd):
    plan = decide.plan_rate([32, 64, 128], exponent=-1, margin=0.05, seeds=seeds, sd=sd)
    better = plan.cheapest(most_draws=2**20)
    assert better is not None
    assert len(better.sizes) > 3
    assert better.half_width < 0.05 < plan.half_width
