"""One function decides; its table, its metamorphic relations, and how cases add up."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import stdtr, stdtrit

from theorax.decide.bias_aware import solve_weights
from theorax.decide.corrections import Corrections
from theorax.decide.designs import Plan, Policy
from theorax.decide.equivalence import combine, decide, is_robust
from theorax.decide.estimators import betting, catoni, deterministic, paired, proportion
from theorax.decide.interval import Student
from theorax.decide.status import Decision, Levels, Reason, Side, Status
from theorax.errors import DesignError, ObservationError, StatementError


def student(estimate, se=0.01, bias=0.02, df=63.0):
    return Student(estimate, se, df, bias, 0.0)


TABLE = [  # estimate, side, status, reason, equivalent within the margin; claim 1, margin 0.1, b = 0.02, t se = 0.02
    (1.00, Side.EQUAL, Status.SUPPORTED, None, False),
    (1.055, Side.EQUAL, Status.REFUTED, None, True),
    (1.20, Side.EQUAL, Status.REFUTED, None, False),
    (0.90, Side.EQUAL, Status.REFUTED, None, False),
    (0.945, Side.AT_LEAST, Status.REFUTED, None, True),
    (0.80, Side.AT_LEAST, Status.REFUTED, None, False),
    (0.98, Side.AT_LEAST, Status.SUPPORTED, None, False),
    (3.00, Side.AT_LEAST, Status.SUPPORTED, None, False),
    (1.02, Side.AT_MOST, Status.SUPPORTED, None, False),
    (-3.0, Side.AT_MOST, Status.SUPPORTED, None, False),
    (1.30, Side.AT_MOST, Status.REFUTED, None, False),
]


@pytest.mark.parametrize(("estimate", "side", "status", "reason", "equivalent"), TABLE)
def test_table(estimate, side, status, reason, equivalent):
    decision = decide(student(estimate), 1.0, 0.1, side)
    assert (decision.status, decision.reason, decision.equivalent_within_margin) == (status, reason, equivalent)


UNDECIDED = [
    ({"se": 0.05}, Reason.UNDERPOWERED),
    ({"se": 0.04, "bias": 0.0501}, Reason.CLASS_BIAS),
    ({"se": 0.001, "bias": 0.12}, Reason.CLASS_BIAS),
]


@pytest.mark.parametrize(("numbers", "reason"), UNDECIDED)
def test_why_nothing_is_decided(numbers, reason):
    assert decide(student(1.0, **numbers), 1.0, 0.1).reason is reason


def test_formulas_of_the_two_sided_claim():
    est, se, b, df, mu, margin = 1.03, 0.002, 0.02, 31.0, 1.0, 0.15
    decision = decide(Student(est, se, df, b, 0.0), mu, margin)
    lam_s = (margin - abs(est - mu) - stdtrit(df, 0.975) * se) / b
    lam_r = (abs(est - mu) - stdtrit(df, 1 - 0.0005) * se) / b
    expected = (lam_s, lam_r, stdtr(df, -(margin - abs(est - mu) - b) / se), 2 * stdtr(df, -(abs(est - mu) - b) / se))
    found = (decision.breakdown_support, decision.breakdown_refute, decision.p_support, decision.p_refute)
    # Differences of numbers near one cancel to 1e-2, then enter a t tail: a few thousand units in the last place.
    assert np.allclose(found, np.minimum(expected, [math.inf, math.inf, 1, 1]), rtol=4000 * 2.0**-52, atol=0)


def test_without_noise_p_is_zero_or_one():
    decision = decide(deterministic([1.0], bias=0.01), 1.0, 0.1)
    assert (decision.p_support, decision.p_refute, decision.status) == (0.0, 1.0, Status.SUPPORTED)
    assert decide(deterministic([1.5], bias=0.01), 1.0, 0.1).p_refute == 0.0


def test_rounding_of_the_mean_refutes_nothing():
    table = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.1, 0.2, 0.3]])
    decision = decide(paired(table, [1.0, 1.0, -1.0]), 0.0, 1e-9)
    assert decision.estimate != 0
    assert decision.status is Status.SUPPORTED
    assert decision.breakdown_support == math.inf


def intervals(rng):
    yield student(rng.normal(1, 0.1), 0.05 * rng.random(), 0.05 * rng.random(), float(rng.integers(2, 50)))
    yield paired(rng.normal(1, 0.2, (rng.integers(3, 40), 1)), bias=0.05 * rng.random())
    yield betting(np.clip(rng.normal(1, 0.2, 60), 0, 2), 0, 2, bias=0.05 * rng.random())
    yield proportion(2.0 * (rng.random(60) < 0.5), 0, 2, bias=0.05 * rng.random())
    yield catoni(rng.normal(1, 0.2, 60), 0.04, bias=0.05 * rng.random())


def test_status_and_p_values_agree(rng):
    for _ in range(40):
        for interval in intervals(rng):
            for side in Side:
                decision = decide(interval, 1.0, 0.15, side)
                refuted = decision.status is Status.REFUTED
                supported = decision.status is Status.SUPPORTED or decision.equivalent_within_margin
                # The p-values and the limits are two roads to one decision; only a tie within rounding may part them.
                assert refuted == (decision.p_refute < 0.001) or abs(decision.p_refute - 0.001) < 1e-9
                assert supported == (decision.p_support < 0.025) or abs(decision.p_support - 0.025) < 1e-9
                assert refuted == (decision.breakdown_refute > 1)
                assert supported == (decision.breakdown_support > 1)


def test_a_claim_and_its_negation_are_never_both_supported(rng):
    """ "at least c" with margin M and "at most c - M" with margin M cannot both exclude what the other allows."""
    for _ in range(40):
        for interval in intervals(rng):
            margin = float(rng.uniform(0.01, 0.3))
            at_least = decide(interval, 1.0, margin, Side.AT_LEAST)
            below = decide(interval, 1.0 - margin, margin, Side.AT_MOST)
            assert not (at_least.status is Status.SUPPORTED and below.status is Status.SUPPORTED)
            apart = decide(interval, 1.0 + 2 * margin, margin)
            assert not (decide(interval, 1.0, margin).status is Status.SUPPORTED and apart.status is Status.SUPPORTED)


def test_rescaling_and_reflection(rng):
    for _ in range(30):
        values, bias, scale = rng.normal(1, 0.2, (20, 1)), 0.03 * rng.random(), 2.0 ** rng.integers(-20, 20)
        plain = decide(paired(values, bias=bias), 1.0, 0.2)
        scaled = decide(paired(scale * values, bias=scale * bias), scale, scale * 0.2)
        # Powers of two scale every intermediate exactly.
        assert (plain.status, plain.p_refute, plain.p_support) == (scaled.status, scaled.p_refute, scaled.p_support)
        mirrored = decide(paired(-values, bias=bias), -1.0, 0.2, Side.AT_MOST)
        assert decide(paired(values, bias=bias), 1.0, 0.2, Side.AT_LEAST).status is mirrored.status


def test_a_larger_class_never_makes_a_verdict(rng):
    decided = {Status.SUPPORTED, Status.REFUTED}
    for _ in range(60):
        for interval in intervals(rng):
            smaller, larger = decide(interval, 1.0, 0.15), decide(replace(interval, bias=2 * interval.bias), 1.0, 0.15)
            assert larger.status not in decided or smaller.status in decided
            if larger.status is Status.REFUTED:
                assert smaller.status is Status.REFUTED


def test_a_wider_margin_never_loses_support(rng):
    for _ in range(20):
        for interval in intervals(rng):
            supports = [decide(interval, 1.0, m).breakdown_support for m in (0.05, 0.1, 0.2, 0.4)]
            assert supports == sorted(supports)
            assert len({decide(interval, 1.0, m).p_refute for m in (0.05, 0.1)}) == 1


def test_what_cannot_be_decided_is_refused():
    with pytest.raises(StatementError, match="positive margin"):
        decide(student(1.0), 1.0, 0.0)
    with pytest.raises(ObservationError, match="not a finite number"):
        decide(student(math.nan), 1.0, 0.1)
    undecided = Decision.undecided(Reason.MOMENTS_UNDECLARED, 1.0, 0.1, Side.EQUAL, Levels())
    assert (undecided.p_refute, undecided.p_support) == (1.0, 1.0)


def cases(*estimates, count=None):
    each = Levels().shared(count or len(estimates))
    return [decide(student(estimate), 1.0, 0.1, levels=each) for estimate in estimates]


COMBINED = [
    ((1.0, 1.01, 0.99), Status.SUPPORTED, None),
    ((1.0, 1.2, 0.99), Status.REFUTED, None),
    ((1.0, 1.046, 1.0), Status.INCONCLUSIVE, Reason.UNDERPOWERED),
]


@pytest.mark.parametrize(("estimates", "status", "reason"), COMBINED)
def test_cases_add_up(estimates, status, reason):
    decisions = cases(*estimates)
    if status is Status.INCONCLUSIVE:
        decisions[1] = decide(student(1.046, se=0.02), 1.0, 0.1, levels=Levels().shared(3))
    whole = combine(decisions)
    assert (whole.status, whole.reason) == (status, reason)
    assert whole.p_refute == min(1.0, 3 * min(d.p_refute for d in decisions))
    assert whole.p_support == max(d.p_support for d in decisions)
    assert whole.cases == tuple(decisions)


def test_cases_at_full_level_are_refused():
    with pytest.raises(DesignError, match=r"levels\.shared"):
        combine(cases(1.0, 1.0, 1.0, count=1))
    with pytest.raises(DesignError, match="Emptiness"):
        combine([])


def test_one_refuted_case_stands_for_all_of_them():
    refuting, supporting = cases(1.2, 1.0, 1.0)[:2]
    whole = combine([refuting], of=3)
    assert whole.status is Status.REFUTED
    assert whole.p_refute == min(1.0, 3 * refuting.p_refute)
    with pytest.raises(DesignError, match="none of them is refuted"):
        combine([supporting], of=3)
    with pytest.raises(DesignError, match=r"levels\.shared"):
        combine([refuting], of=4)


def test_robustness_is_a_status_that_stands():
    plan = Plan(tuple(32 * 2.0**i for i in range(9)), policy=Policy.DETERMINISTIC)
    n = np.asarray(plan.sizes)

    def outcome(exponent):
        def interval(weights):
            return deterministic(-exponent * np.log(n), weights.vector, weights.bias.total)

        decision = decide(interval(solve_weights(plan)), 1.0, 0.1)
        return decision.status, is_robust(decision, plan, interval)

    assert outcome(1.0) == (Status.SUPPORTED, True)
    assert outcome(1.5) == (Status.REFUTED, True)
    assert outcome(1 + 1.1 * solve_weights(plan).bias.total) == (Status.REFUTED, False)
    exact = replace(plan, corrections=Corrections(size=0, rest=0, reason="exact"))
    decision = decide(deterministic(-np.log(n), solve_weights(exact).vector), 1.0, 0.1)
    assert not is_robust(decision, exact, lambda weights: deterministic(-np.log(n), weights.vector))
