"""Two readings of one quantity: which uncertainty counts, and what is called moved, the same, or neither."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from theorax.decide.comparison import CaseReading, Evidence, Outcome, Pair, compare_reports, joined_cases, pair
from theorax.decide.exact_kinds import IMPOSSIBILITY
from theorax.decide.inequalities import WORDS as INEQUALITY
from theorax.decide.kinds import DecidedQuantity
from theorax.decide.laws import WORDS as LAW
from theorax.decide.probabilities import WORDS as PROBABILITY
from theorax.errors import UsageError

LEVEL = 0.025

NUMBER = DecidedQuantity()


def reading(estimate=1.0, error=0.1, draws=50, bias=0.0, margin=1.0, quantity=NUMBER, half=None, total=0):
    """A reading whose interval is Student's, unless its half-width is given."""
    half = stats.t.isf(LEVEL, draws - 1) * error + bias if half is None else half
    return CaseReading(estimate, error, (estimate - half, estimate + half), bias, margin, draws, LEVEL, quantity, total)


def test_independent_runs_are_compared_as_welch_does(rng):
    old, new = rng.normal(size=12), rng.normal(0.4, 3.0, size=40)
    wanted = stats.ttest_ind(old, new, equal_var=False)
    found = pair(
        *(reading(x.mean(), x.std(ddof=1) / math.sqrt(len(x)), len(x)) for x in (old, new)),
    )
    assert found.p_moved == pytest.approx(wanted.pvalue, rel=1e-9)


def test_one_seed_adds_the_standard_errors():
    apart = pair(reading(), reading(1.3), shared_seeds=True)
    assert apart.standard_error == pytest.approx(0.2)
    assert pair(reading(), reading(1.3)).standard_error == pytest.approx(0.1 * math.sqrt(2))


def test_runs_of_one_seed_that_differ_by_rounding_are_the_same_however_wide_their_error():
    wide = reading(error=1.0)
    assert pair(wide, wide, shared_seeds=True).p_same == 0.0
    near = pair(wide, reading(1 + 1e-9, error=1.0), shared_seeds=True)
    # sup over sigma of the density of N(z, sigma^2) at zero, times the width 2e-9: 2 phi(1) 1e-9/z
    assert near.p_same == pytest.approx(2e-9 * stats.norm.pdf(1) / 0.5, rel=0.05)
    assert pair(wide, reading(1 + 1e-9, error=1.0)).p_same > 0.3
    assert pair(wide, reading(1.49, error=1.0), shared_seeds=True).p_same > 0.4


def test_an_interval_wider_than_students_counts():
    wide = reading(half=0.5)
    assert wide.spread == pytest.approx(0.5 / stats.t.isf(LEVEL, 49))
    assert reading().spread == pytest.approx(0.1)


def test_the_bias_of_one_design_cancels_and_of_two_adds():
    old, new = reading(bias=0.2), reading(1.3, bias=0.2)
    assert pair(old, new).slack == 0
    two = pair(old, new, same_design=False)
    assert two.slack == pytest.approx(0.4) and two.p_moved == 1.0
    assert two.p_same > pair(old, new).p_same


def test_a_law_adds_the_noises_of_its_norms():
    assert pair(reading(quantity=LAW.quantity), reading(1.2, quantity=LAW.quantity)).standard_error == pytest.approx(
        0.2
    )


def test_without_randomness_the_declared_rounding_decides():
    exact = {"error": 0.0, "bias": 0.1, "half": 0.1 + 1e-12}
    near, far = (pair(reading(**exact), reading(1 + move, **exact)) for move in (1e-12, 1e-9))
    assert near.exact and (near.p_moved, near.p_same) == (1.0, 0.0)
    assert far.exact and (far.p_moved, far.p_same) == (0.0, 0.0)


def test_a_certified_enclosure_of_zero_never_moves_by_another_rounding():
    old, new = (CaseReading(x, 0.0, (0.0, x), 0.0, 1e-6, 2, LEVEL, NUMBER) for x in (3e-14, 9e-14))
    assert pair(old, new).p_moved == 1.0 and pair(old, new).p_same == 0.0


@pytest.mark.parametrize("move", [2e-16, 1e-12, 1e-4, 0.009])
@pytest.mark.parametrize("start", [-0.5, 0.0, 0.25])
@pytest.mark.parametrize("words", [INEQUALITY, IMPOSSIBILITY], ids=lambda words: words.kind)
def test_bounds_of_an_excess_have_moved_only_by_the_zone(words, start, move):
    places = (start, start + move, start + 0.011)
    old, near, far = (CaseReading(x, 0.0, None, 0.0, 0.02, 24, LEVEL, words.quantity, 48) for x in places)
    for one, other in ((old, near), (near, old)):
        assert (pair(one, other).p_moved, pair(one, other).p_same) == (1.0, 0.0)
    assert (pair(old, far).p_moved, pair(old, far).p_same) == (0.0, 1.0)
    found = compare_reports(
        {"near": joined_cases([pair(old, near)]), "far": joined_cases([pair(old, near), pair(old, far)])}
    )
    assert [part.outcome for part in found.values()] == [Outcome.SAME, Outcome.MOVED]


def test_an_interval_without_an_end_says_nothing():
    open_ = CaseReading(1.0, 0.1, (0.9, None), 0.0, 1.0, 50, LEVEL, "expectation")
    assert (pair(reading(), open_).p_moved, pair(reading(), open_).p_same) == (1.0, 1.0)


def share(successes, draws, margin=0.1):
    p = successes / draws
    return CaseReading(
        p, math.sqrt(p * (1 - p) / draws), (0.0, 1.0), 0.0, margin, draws, LEVEL, PROBABILITY.quantity, draws
    )


def test_shares_near_one_are_no_normal_variables():
    # No standard error at all before, four failures now: Welch would give p = 0.045 out of nothing.
    found = pair(share(400, 400), share(396, 400))
    assert found.p_moved > stats.fisher_exact([[400, 0], [396, 4]]).pvalue
    assert pair(share(400, 400), share(300, 400)).p_moved < 1e-12
    assert pair(share(4000, 4000), share(3996, 4000)).p_same < 1e-12


@pytest.mark.parametrize("zone", [0, -0.5, 1.5, math.nan])
def test_a_zone_is_a_share_of_the_margin(zone):
    with pytest.raises(UsageError, match=r"Write a share between 0 and 1"):
        pair(reading(), reading(), share=zone)


@given(st.floats(-3, 3), st.floats(0.01, 1), st.floats(0.01, 1), st.booleans())
def test_the_order_of_the_runs_does_not_matter(move, first, second, shared):
    one, other = reading(0.0, first, 20), reading(move, second, 30)
    there, back = pair(one, other, shared_seeds=shared), pair(other, one, shared_seeds=shared)
    assert there.difference == -back.difference
    assert (there.p_moved, there.p_same) == pytest.approx((back.p_moved, back.p_same))
    assert 0 <= there.p_moved <= 1 and 0 <= there.p_same <= 1


def evidence(p_moved, p_same, tested=True):
    part = Pair(0.1, 0.1, 0.0, 0.5, p_moved, p_same, exact=not tested)
    return Evidence(p_moved, p_same, tested, 0, part)


def test_the_four_outcomes_are_those_of_the_table():
    found = compare_reports(
        {
            "same": evidence(1.0, 1e-9),
            "moved": evidence(1e-9, 1.0),
            "moved a little": evidence(1e-9, 1e-9),
            "neither": evidence(0.5, 0.5),
        }
    )
    assert {name: (part.outcome, part.within) for name, part in found.items()} == {
        "same": (Outcome.SAME, True),
        "moved": (Outcome.MOVED, False),
        "moved a little": (Outcome.MOVED, True),
        "neither": (Outcome.CANNOT_TELL, False),
    }


def test_a_suite_is_held_and_exact_claims_take_no_part():
    alone = compare_reports({"a": evidence(0.004, 0.02)})["a"]
    assert (alone.outcome, alone.within) == (Outcome.MOVED, True)
    many = {f"other {i}": evidence(0.9, 0.9) for i in range(9)}
    assert compare_reports({"a": evidence(0.004, 0.02), **many})["a"].outcome == Outcome.CANNOT_TELL
    exact = {f"exact {i}": evidence(1.0, 0.0, tested=False) for i in range(9)}
    assert compare_reports({"a": evidence(0.004, 0.02), **exact})["a"].outcome == Outcome.MOVED


def test_a_claim_moves_with_one_of_its_cases_and_stays_with_all():
    still, gone = Pair(0.0, 0.1, 0.0, 0.5, 1.0, 1e-6), Pair(1.0, 0.1, 0.0, 0.5, 1e-6, 1.0)
    found = joined_cases([still, gone, still])
    assert (found.p_moved, found.p_same, found.worst) == (pytest.approx(3e-6), 1.0, 1)
    assert joined_cases([still, still]).p_same == 1e-6
    rounding = Pair(1e-9, 0.0, 0.0, 0.5, 0.0, 0.0, exact=True)
    assert joined_cases([rounding]).p_moved == 0.0 and not joined_cases([rounding]).tested
    kept = Pair(0.0, 0.0, 0.0, 0.5, 1.0, 0.0, exact=True)
    assert joined_cases([kept]).p_moved == 1.0
    with pytest.raises(UsageError, match="No case was compared"):
        joined_cases([])
