"""Limits of own numbers, and orders and limits of sequences without randomness."""

from dataclasses import replace

import numpy as np
import pytest
from sweeps import SIZES, SMOOTH

from theorax import decide
from theorax.errors import DesignError, ObservationError


class TestSequence:
    plan = decide.plan_sequence([8, 16, 32, 64, 128, 256], exponent=-1, margin=0.1, corrections=SMOOTH)
    n = np.array(plan.sizes)

    def test_an_order_is_supported_a_wrong_one_refuted(self):
        values = (1 + 6 / self.n) / self.n
        assert decide.sequence(self.plan, values).status == "SUPPORTED"
        assert decide.sequence(replace(self.plan, exponent=-2), values).status == "REFUTED"

    def test_it_spends_no_error_rate(self):
        verdict = decide.sequence(self.plan, 1 / self.n)
        assert verdict.level is None and verdict.p_support is None
        assert "exclude" in verdict.sentence and "risk" not in verdict.sentence

    def test_a_limit(self):
        plan = decide.plan_sequence(self.plan.sizes, to=1 / 3, margin=0.02, corrections=SMOOTH)
        assert decide.sequence(plan, 1 / 3 + 1 / self.n).status == "SUPPORTED"
        assert decide.sequence(replace(plan, to=0.4), 1 / 3 + 1 / self.n).status == "REFUTED"

    def test_errors_of_the_values_widen_the_bias(self):
        noisy = decide.plan_sequence(self.plan.sizes, exponent=-1, margin=0.1, corrections=SMOOTH, errors=0.05)
        assert noisy.bias > self.plan.bias
        assert decide.sequence(noisy, 1 / self.n).status == "INCONCLUSIVE"

    @pytest.mark.parametrize(
        ("values", "said"),
        [
            (np.ones(5), "shape (5,)"),
            (np.ones((2, 6)), "shape (2, 6)"),
            ([1, 1, 1, np.nan, 1, 1], "n = 64 (size 4) is nan"),
            ([1, 1, 0, 1, 1, 1], "n = 32 (size 3) is 0"),
        ],
    )
    def test_values_that_cannot_be_read(self, values, said):
        with pytest.raises(ObservationError) as told:
            decide.sequence(self.plan, values)
        assert said in str(told.value)

    def test_one_claim_at_a_time(self):
        for given in ({}, {"exponent": -1, "to": 0.0}):
            with pytest.raises(DesignError, match="Write one of them"):
                decide.plan_sequence([1, 2, 4, 8], margin=0.1, **given)


class TestLimit:
    plan = decide.plan_limit(
        [64.0 * 2**i for i in range(7)],
        to=0.0,
        margin=0.2,
        draws=400,
        sd=1.0,
        corrections=decide.Corrections(rest=0, reason="one power"),
    )
    x = np.array(plan.sizes) / 64

    def test_a_limit_is_supported_and_a_wrong_one_refuted(self, rng):
        values = 0.4 * self.x**-0.5 + rng.standard_normal((400, 7))
        assert decide.limit(self.plan, values).status == "SUPPORTED"
        assert decide.limit(replace(self.plan, to=0.5), values).status == "REFUTED"

    def test_few_draws_with_light_tails_asserted_say_nothing(self, rng):
        plan = replace(self.plan, draws=20)
        verdict = decide.limit(plan, rng.standard_normal((20, 7)))
        assert (verdict.status, verdict.reason) == ("INCONCLUSIVE", "moments_undeclared")
        assert "at least 30 draws" in verdict.sentence

    def test_a_declared_range_or_variance(self, rng):
        values = (rng.uniform(-1, 1, (4000, 7)) + 0.01).clip(-1, 1)
        for moments in (decide.Bounded(-1, 1), decide.BoundedVariance(0.4)):
            plan = replace(self.plan, draws=4000, moments=moments)
            assert decide.limit(plan, values).status == "SUPPORTED"
            assert decide.limit(replace(plan, to=0.5), values).status == "REFUTED"
        with pytest.raises(ObservationError, match="outside the declared range"):
            decide.limit(replace(plan, moments=decide.Bounded(-0.5, 0.5)), values)

    def test_the_sd_is_planned_never_read_off_the_data(self):
        with pytest.raises(DesignError, match="No sd was planned"):
            decide.plan_limit(SIZES, to=0.0, margin=0.1)
        assert decide.plan_limit(SIZES, to=0.5, margin=0.1, moments=decide.Bounded(0, 1)).sd == 0.5

    def test_undeclared_moments_are_refused(self):
        with pytest.raises(DesignError, match="did you mean `light tails`"):
            decide.plan_limit(SIZES, to=0.0, margin=0.1, moments="light tail")
