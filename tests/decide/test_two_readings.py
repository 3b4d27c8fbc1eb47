"""A claim read exactly, and the same claim read with its margin: what each refutes, and how both are told."""

from dataclasses import fields

import numpy as np
import pytest

from theorax import decide
from theorax.decide.equivalence import against, combine, withheld
from theorax.decide.equivalence import decide as decided
from theorax.decide.estimators import betting, catoni, deterministic, paired, proportion
from theorax.decide.findings import Finding, Found
from theorax.decide.interval import Student
from theorax.decide.plans import Planned
from theorax.decide.quantiles import quantile_of_draws
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Reading, Reason, Side, Status
from theorax.errors import DesignError

EXACT, MARGIN = Reading.EXACT, Reading.MARGIN
SUPPORTED, REFUTED, INCONCLUSIVE = Status.SUPPORTED, Status.REFUTED, Status.INCONCLUSIVE


def student(estimate, se=0.01, bias=0.02, df=63.0):
    return Student(estimate, se, df, bias, 0.0)


# The claim is 1 with margin 0.1; b = 0.02 and t se = 0.02, so a limit lies 0.04 (0.0545 for refutation) off the estimate.
TABLE = [  # estimate, side, exact reading, margin reading, off the claim and inside the margin
    (1.00, Side.EQUAL, SUPPORTED, SUPPORTED, False),
    (1.055, Side.EQUAL, REFUTED, SUPPORTED, True),
    (0.945, Side.EQUAL, REFUTED, SUPPORTED, True),
    (1.09, Side.EQUAL, REFUTED, INCONCLUSIVE, False),
    (1.12, Side.EQUAL, REFUTED, INCONCLUSIVE, False),
    (1.20, Side.EQUAL, REFUTED, REFUTED, False),
    (0.80, Side.EQUAL, REFUTED, REFUTED, False),
    (0.945, Side.AT_LEAST, REFUTED, SUPPORTED, True),
    (0.90, Side.AT_LEAST, REFUTED, INCONCLUSIVE, False),
    (0.80, Side.AT_LEAST, REFUTED, REFUTED, False),
    (3.00, Side.AT_LEAST, SUPPORTED, SUPPORTED, False),
    (1.055, Side.AT_MOST, REFUTED, SUPPORTED, True),
    (1.12, Side.AT_MOST, REFUTED, INCONCLUSIVE, False),
    (1.30, Side.AT_MOST, REFUTED, REFUTED, False),
    (-3.0, Side.AT_MOST, SUPPORTED, SUPPORTED, False),
]


@pytest.mark.parametrize(("estimate", "side", "exactly", "with_margin", "within"), TABLE)
def test_table(estimate, side, exactly, with_margin, within):
    for reading, status in ((EXACT, exactly), (MARGIN, with_margin)):
        found = decided(student(estimate), 1.0, 0.1, side, reading=reading)
        assert (found.status, found.equivalent_within_margin, found.reading) == (status, within, reading)


def grid():
    """Intervals of every kind at estimates inside, on and beyond both margins of a claim of 1, clear of it and not."""
    rng = np.random.default_rng(1)
    for estimate in np.linspace(0.5013, 1.4987, 41):
        for se in (0.0, 1e-3, 0.03, 0.2, 2.0):
            for bias in (0.0, 0.02, 0.2):
                yield student(estimate, se, bias, 5.0)
        values = rng.normal(estimate, 0.2, 60)
        yield deterministic([estimate], bias=0.01)
        yield paired(values[:, None], bias=0.01)
        yield paired(rng.lognormal(0, 1.5, (30, 1)) * estimate)  # its skewness withholds support
        yield betting(np.clip(values, 0, 2), 0, 2)
        yield catoni(values, 0.04)
        yield proportion(2.0 * (rng.random(60) < estimate / 2), 0, 2)
        yield quantile_of_draws(values)


def against_itself():
    """Draws of which the first half speaks against what the second half speaks for: limits that cross."""
    for first, count in ((1.9, 200), (0.1, 200), (1.5, 3000), (1.2, 3000)):
        values = np.concatenate([np.full(count, first), np.full(6 * count, 2 - first)])
        yield betting(values, 0, 2)
        yield betting(values[::-1].copy(), 0, 2)


@pytest.mark.parametrize("levels", [Levels(), Levels(0.4, 0.4), Levels(0.49, 0.01), Levels(1e-6, 0.49)])
def test_no_data_reject_both_nulls(levels):
    """Off by the margin or more, and off by at most the margin: whatever is seen, one of the two stands."""
    seen = set()
    for interval in [*grid(), *against_itself()]:
        for side in Side:
            for margin in (0.01, 0.1, 0.3):
                found = decided(interval, 1.0, margin, side, levels, MARGIN)
                assert not (found.breakdown_support > 1 and found.breakdown_refute > 1)
                assert not (found.p_support <= levels.support and found.p_refute <= levels.refute)
                assert found.equivalent_within_margin <= (found.status is SUPPORTED)
                seen.add(found.status)
    assert seen == {SUPPORTED, REFUTED, INCONCLUSIVE}


def test_limits_that_cross_would_reject_both():
    """Without what holds limits at the estimate, evidence kept along the way rejects every mean."""
    assert any(interval.lower(0.025) > interval.upper(0.025) for interval in against_itself())


def test_status_and_p_values_agree():
    for interval in grid():
        for side in Side:
            found = decided(interval, 1.0, 0.1, side, reading=MARGIN)
            refuted, supported = found.status is REFUTED, found.status is SUPPORTED
            # Two roads to one decision; only a tie within rounding may part them.
            levels = found.levels
            assert refuted == (found.p_refute < levels.refute) or abs(found.p_refute - levels.refute) < 1e-9
            assert supported == (found.p_support < levels.support) or abs(found.p_support - levels.support) < 1e-9
            assert refuted == (found.breakdown_refute > 1)
            assert supported == (found.breakdown_support > 1)


def test_refutation_is_that_of_both_ends():
    """Off by at most the margin falls where "at most 1 + margin" or "at least 1 - margin" does, read exactly."""
    for interval in grid():
        above = decided(interval, 1.1, 0.1, Side.AT_MOST)
        below = decided(interval, 0.9, 0.1, Side.AT_LEAST)
        found = decided(interval, 1.0, 0.1, reading=MARGIN)
        expected = min(1.0, 2 * min(above.p_refute, below.p_refute))
        one_sided = decided(interval, 1.0, 0.1, Side.AT_MOST, reading=MARGIN).p_refute
        for p, other in ((found.p_refute, expected), (one_sided, above.p_refute)):
            # An end lies a few units in the last place farther out here: t tails of numbers of which some cancel.
            assert p == pytest.approx(other, rel=1e-9, abs=1e-300) or min(p, other) >= 0.5


def test_support_is_the_same_under_both_readings():
    """Of intervals that hold their estimate: the margin reading moves refutation alone."""
    for interval in grid():
        exactly, with_margin = (decided(interval, 1.0, 0.1, reading=reading) for reading in Reading)
        assert with_margin.p_support == max(exactly.p_support, with_margin.p_support)
        assert (exactly.breakdown_support > 1) == (with_margin.breakdown_support > 1)
        assert exactly.equivalent_within_margin == with_margin.equivalent_within_margin
        assert with_margin.status is not REFUTED or exactly.status is REFUTED


@pytest.mark.parametrize(
    ("claimed", "margin"), [(1.0, 0.1), (0.7, 0.2), (3.3, 1.1), (1e6, 0.3), (0.0, 0.1), (-0.2, 0.6)]
)
def test_a_value_off_by_just_the_margin_is_not_refuted(claimed, margin):
    """Without noise nothing but rounding could: claim, margin and value are decimals, and doubles are not."""
    for off in (margin, -margin):
        for side in Side:
            found = decided(deterministic([claimed + off]), claimed, margin, side, reading=MARGIN)
            assert found.status is not REFUTED
            beyond = decided(deterministic([claimed + off * (1 + 2.0**-20)]), claimed, margin, side, reading=MARGIN)
            assert side is not Side.EQUAL or beyond.status is REFUTED


def test_cases_add_up():
    each = DEFAULT_LEVELS.shared(3)

    def whole(reading, *estimates):
        return combine([decided(student(x), 1.0, 0.1, Side.EQUAL, each, reading) for x in estimates])

    assert whole(MARGIN, 1.0, 1.059, 1.0).status is SUPPORTED
    assert whole(MARGIN, 1.0, 1.059, 1.0).equivalent_within_margin
    assert whole(EXACT, 1.0, 1.059, 1.0).equivalent_within_margin
    assert not whole(MARGIN, 1.0, 1.01, 1.0).equivalent_within_margin
    for reading in Reading:
        beyond = whole(reading, 1.0, 1.059, 1.3)
        assert (beyond.status, beyond.equivalent_within_margin) == (REFUTED, False)


def test_what_is_withheld_is_not_within():
    for reading in Reading:
        near = decided(student(1.059), 1.0, 0.1, reading=reading)
        assert near.equivalent_within_margin
        assert not withheld(near, Reason.CLASS_REFUTED).equivalent_within_margin
        assert not against(near, student(5.0), 4.0, 6.0).equivalent_within_margin  # the rival form is not excluded


# A plan of each kind, data inside the margin and off the claim, data beyond it, and the end of the first sentence.
RNG = np.random.default_rng(3)
X, SIZES = RNG.standard_normal(4000), tuple(2.0**k for k in range(5, 12))
NONE = decide.Corrections(size=0, rest=0, reason="nothing is left at any size")
DECAY = np.outer(np.exp(0.1 * RNG.standard_normal(200)), 1.0 / np.array(SIZES))
KINDS = {
    "mean": (decide.plan_mean, decide.mean, dict(to=2, margin=0.1, draws=4000, sd=1.0), X + 1.93, X + 1.7, "2"),
    "median": (decide.plan_quantile, decide.quantile, dict(to=2, margin=0.2, draws=4000), X + 1.9, X + 1.5, "2"),
    "limit": (
        decide.plan_limit,
        decide.limit,
        dict(sizes=SIZES[:3], to=2, margin=0.2, draws=1000, sd=1, corrections=NONE),
        X[:3000].reshape(1000, 3) + 1.9,
        X[:3000].reshape(1000, 3) + 1.5,
        "2",
    ),
    "rate": (
        decide.plan_rate,
        decide.rate,
        dict(sizes=SIZES, exponent=-1, margin=0.2, draws=200, corrections=NONE),
        DECAY * np.array(SIZES) ** 0.1,
        DECAY * np.array(SIZES) ** 0.4,
        "-1",
    ),
    "sequence": (
        decide.plan_sequence,
        decide.sequence,
        dict(sizes=SIZES, exponent=-1, margin=0.2, corrections=NONE),
        np.array(SIZES) ** -0.9,
        np.array(SIZES) ** -0.6,
        "-1",
    ),
    "law": (
        decide.plan_law,
        decide.law,
        dict(to=decide.Normal(), draws=4000, margin=0.1),
        1.1 * X,
        1.5 * X,
        "normal(0, 1)",
    ),
    "probability": (
        decide.plan_probability,
        decide.probability,
        dict(at_least=0.9, margin=0.1, draws=4000),
        X < 1.0,
        X < 0.0,
        "0.9",
    ),
    "almost sure": (
        decide.plan_probability,
        decide.probability,
        dict(at_least=1, margin=0.1, draws=4000),
        X < 2.5,
        X < 1.0,
        "1",
    ),
    "bound": (
        decide.plan_inequality,
        lambda plan, left: decide.inequality(plan, left, 2.5),
        dict(share=0.05, draws=4000),
        X,
        X + 2.0,
        "no violation",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_plan(kind):
    plan, test, given, near, far, claimed = KINDS[kind]
    plans = {reading: plan(**given, reading=reading) for reading in Reading}
    exactly, with_margin = (test(plans[reading], near) for reading in Reading)
    assert (exactly.status, with_margin.status) == ("REFUTED", "SUPPORTED")
    assert (exactly.reading, with_margin.reading) == ("exact", "margin")
    assert all(test(own, far).status == "REFUTED" for own in plans.values())
    assert not any(test(own, far).within_margin for own in plans.values())
    assert plans[EXACT].hash != plans[MARGIN].hash
    assert plans[EXACT].half_width == plans[MARGIN].half_width  # of support, which is one under both
    assert plans[MARGIN].noticeable >= max(plans[MARGIN].margin, plans[EXACT].noticeable)
    assert with_margin.within_margin
    assert with_margin.sentence.startswith(f"Within {plans[MARGIN].margin:g} of {claimed}; not ")
    if kind == "bound":  # one sure violation refutes a bound in every row, within no margin
        assert not exactly.within_margin
    else:
        assert exactly.within_margin
        assert exactly.sentence.startswith("Not ")
        assert f"but within your margin of {plans[EXACT].margin:g}." in exactly.sentence
        assert "REFUTED (within margin)" in str(exactly)
    assert "read with its margin" in str(with_margin) and "read exactly" in str(exactly)


def test_the_first_sentence_is_that_of_the_page(rng):
    values = 1.95 + rng.permutation(np.tile([0.1, -0.1], 200))
    for reading, first in (
        ("exact", "Not exactly 2 (found 1.9500(50)), but within your margin of 0.1."),
        ("margin", "Within 0.1 of 2; not exactly 2 (found 1.9500(50))."),
    ):
        found = decide.mean(decide.plan_mean(to=2, margin=0.1, draws=400, sd=0.1, reading=reading), values)
        assert found.sentence.startswith(first)
        assert found.within_margin


def test_the_public_face_reads_with_the_margin():
    """One's own numbers have a margin that matters; a bound has one only where a share is declared."""
    assert decide.plan_mean(to=2, margin=0.1, sd=1.0).reading is MARGIN
    assert decide.plan_inequality(draws=100).reading is EXACT
    assert decide.plan_inequality(draws=100, share=0.05).reading is MARGIN
    assert decide.plan_inequality(draws=100, share=0.05, reading="exact").reading is EXACT
    with pytest.raises(DesignError, match="reading='margins' is unknown"):
        decide.plan_mean(to=2, margin=0.1, sd=1.0, reading="margins")
    assert next(part for part in fields(Planned) if part.name == "reading").default is EXACT


def test_rows_that_rounding_leaves_open_count_against_either_word(rng):
    plan = decide.plan_inequality(draws=1000, share=0.05)

    def found(violated, doubtful):
        left = np.concatenate(
            [np.full(violated, 1.0), np.full(doubtful, 0.01), np.full(1000 - violated - doubtful, -1.0)]
        )
        return decide.inequality(plan, rng.permutation(left + 1e-9 * np.arange(1000)), 0.0, 0.1)

    assert found(10, 10).status == "SUPPORTED"
    assert (found(10, 200).status, found(10, 200).reason) == ("INCONCLUSIVE", "numeric_floor")
    assert found(0, 200).status == "INCONCLUSIVE"
    assert found(100, 0).status == found(100, 200).status == "REFUTED"
    assert (found(45, 0).status, found(45, 0).reason) == ("INCONCLUSIVE", "underpowered")


@pytest.mark.parametrize("doubt", [Finding.WITHHELD, Finding.CANNOT_FAIL, Finding.INSENSITIVE])
def test_a_guard_that_withholds_support_takes_the_margin_too(doubt):
    near = decide.mean(decide.plan_mean(to=2, margin=0.1, draws=4000, sd=1.0, reading="exact"), X + 1.93)
    assert near.within_margin
    doubted = near.with_findings(Found(doubt, "A guard speaks."))
    assert (doubted.status, doubted.within_margin) == ("REFUTED", False)
    assert "within your margin" not in doubted.sentence


def test_an_undecided_case_keeps_its_reading():
    found = Decision.undecided(Reason.MOMENTS_UNDECLARED, 1.0, 0.1, Side.EQUAL, Levels(), MARGIN)
    assert (found.status, found.reading) == (INCONCLUSIVE, MARGIN)
