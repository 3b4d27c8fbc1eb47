"""Fits of forms: known quantiles, slow corrections, and the decision that they withhold."""

import numpy as np
import pytest
from scipy.stats import chi2

from theorax import decide
from theorax.decide.designs import Policy
from theorax.decide.form_fits import Averages, FormColumn, Group, averages_of, fit
from theorax.decide.slow_terms import SlowTerm
from theorax.decide.status import Reason, Status

SIZES = (64.0, 256.0, 1024.0, 4096.0)


def known(values, sd=1.0):
    """Averages whose noise is known."""
    return Averages(np.asarray(values), sd**2 * np.eye(len(values)), np.inf, np.zeros(len(values)))


def test_least_squares_and_its_quantile():
    y = np.array([1.0, 2.0, 4.0, 3.0])
    found = fit(known(y), (FormColumn(np.ones(4)),))
    assert found.coefficients == pytest.approx((2.5,), abs=1e-6)
    assert found.chi_squared == pytest.approx(float(((y - 2.5) ** 2).sum()))
    assert found.quantile == pytest.approx(chi2.ppf(0.99, 3))


def test_a_box_and_a_shared_bound_hold():
    y, ones = np.array([5.0, 0.0, 0.0]), np.ones(3)
    assert fit(known(y), (FormColumn(ones, -1.0, 1.0),)).coefficients == pytest.approx((1.0,), abs=1e-5)
    shared = fit(known(y), (), (Group(np.eye(3), 2.0),)).of_groups[0]
    assert sum(map(abs, shared)) == pytest.approx(2.0, abs=1e-4) and shared[0] == pytest.approx(2.0, abs=1e-4)


def test_the_noise_rejects_one_true_form_in_a_hundred(rng):
    rejected = 0
    for _ in range(400):
        columns = [1 + rng.standard_normal(30) for _ in SIZES]
        rejected += fit(averages_of(columns, Policy.INDEPENDENT, np.zeros(4)), (FormColumn(np.ones(4)),)).is_rejected
    assert rejected <= 13  # the 99.9 % quantile of the binomial law at 0.01


@pytest.mark.parametrize("term", list(SlowTerm))
def test_terms_are_one_where_they_are_largest(term):
    assert max(map(abs, term.at(SIZES))) == 1 and term.is_defined(SIZES)


@pytest.mark.parametrize("reason", ["", "a proof"])
def test_a_class_with_a_reason_stands(rng, reason):
    mean = 1 + 0.5 * np.asarray(SlowTerm.LOG.at(SIZES))
    allowed = decide.Corrections(reason=reason)
    plan = decide.plan_limit(SIZES, to=1.0, margin=0.05, draws=400, sd=0.1, seeds="independent", corrections=allowed)
    found = decide.limit(plan, [value + 0.1 * rng.standard_normal(400) for value in mean])
    if reason:
        assert found.status is Status.REFUTED and "those of the author's class; undecided at" in found.sentence
    else:
        assert found.status is Status.INCONCLUSIVE and found.reason is Reason.CLASS
        assert "c/log n" in found.sentence and found.cases[0].outside is not None


def test_a_limit_declares_its_logarithms():
    allowed = decide.Corrections(size=0, rest=0, log=0.1, reason="a series in 1/log n")
    plan = decide.plan_limit(SIZES, to=2.0, margin=0.3, draws=100, sd=0.1, corrections=allowed)
    assert plan.bias <= 0.2 and "c/log n" in str(decide.limit(plan, 2 + 0.1 * np.ones((100, 4))).ledger)
