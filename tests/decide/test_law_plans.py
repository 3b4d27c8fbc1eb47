"""Plans of laws: the noise's shape in closed form and from a pilot, the planned width and power as they happen."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtri

from theorax import decide
from theorax.decide.corrections import Corrections
from theorax.decide.gaussian_norm import Shape, shape_of_covariance
from theorax.decide.law_features import (
    features_of_conditional_variance,
    features_of_samples,
    gauss_hermite,
    joint,
    shape_of_characteristic,
)
from theorax.decide.laws import decide_law
from theorax.decide.status import Reason, Status
from theorax.errors import DesignError

F = gauss_hermite()
SIZES = (16, 32, 64, 128, 256)
LAWS = Corrections(size=0.05, slowest=1, reason="the law is a polynomial in 1/n")
SHAPE = decide.Normal().noise(F)


def plan(draws, **more):
    return decide.plan_law(SIZES, to=decide.Normal(), draws=draws, seeds="independent", corrections=LAWS, **more)


def shape_of_features(features):
    return shape_of_covariance(np.cov(features, rowvar=False))


def test_the_closed_form_is_what_draws_show(rng):
    target = decide.Normal().features(F)
    assert math.isclose(SHAPE.sd, math.sqrt(1 - target @ target), rel_tol=1e-12)
    pilot = shape_of_features(features_of_samples(rng.standard_normal(20_000), F))
    # Eigenvalues of a sample covariance err by about sqrt(2/N) of the largest, here a hundredth.
    assert np.abs(np.array(pilot.eigenvalues[:8]) - SHAPE.eigenvalues[:8]).max() < 5 * math.sqrt(2 / 20_000)
    assert math.isclose(sum(SHAPE.eigenvalues), 1, rel_tol=1e-12)


def test_the_closed_form_of_a_skew_law_and_of_a_vector(rng):
    """An exponential variable has phi(t) = 1/(1 - i t); two numbers with a correlation."""
    skew = shape_of_characteristic(lambda t: 1 / (1 - 1j * t), F)
    seen = shape_of_features(features_of_samples(rng.exponential(size=20_000), F))
    assert np.abs(np.array(skew.eigenvalues[:8]) - seen.eigenvalues[:8]).max() < 5 * math.sqrt(2 / 20_000)
    covariance = np.array([[1, 0.5], [0.5, 1]])
    points = joint(covariance)
    both = shape_of_characteristic(lambda t: np.exp(-np.einsum("ja,ab,jb->j", t, covariance, t) / 2), points)
    drawn = shape_of_features(features_of_samples(rng.multivariate_normal([0, 0], covariance, 10_000), points))
    assert np.abs(np.array(both.eigenvalues[:8]) - drawn.eigenvalues[:8]).max() < 5 * math.sqrt(2 / 10_000)


def test_planned_power_and_width_are_what_happens(rng):
    planned, replicates = plan(4000), 60
    supported = 0
    for _ in range(replicates):
        decision = decide_law(planned, [features_of_samples(rng.standard_normal(4000), F) for _ in SIZES]).decision
        supported += decision.status is Status.SUPPORTED
    # 99.9 % fluctuation on both sides.
    allowed = 3.29 * math.sqrt(planned.power() * (1 - planned.power()) / replicates)
    assert abs(supported / replicates - planned.power()) < allowed
    # The half-width is that of the decision, whose covariance is estimated from 20000 draws.
    assert math.isclose(decision.upper - decision.estimate, planned.half_width, rel_tol=0.03)


def test_a_declared_spread_scales_the_noise_of_the_claimed_law(rng):
    """Sixteen independent values a draw: a quarter of the noise, in the same directions."""
    planned = plan(1000, sd=SHAPE.sd / 4)
    tables = [features_of_samples(rng.standard_normal((1000, 16)), F) for _ in SIZES]
    decision = decide_law(planned, tables).decision
    # The covariance is estimated from 5000 draws: its largest eigenvalues err by sqrt(2/1000) at one size.
    assert math.isclose(decision.upper - decision.estimate, planned.half_width, rel_tol=0.05)


def test_features_given_a_variance_move_in_one_direction(rng):
    """A chi-square scale mixture: what is planned is the widest noise there is, and little wider than what happens."""
    tables = [features_of_conditional_variance(rng.chisquare(48, 2000) / 48, F) for _ in SIZES]
    sd = float(np.mean([math.sqrt(np.trace(np.cov(table, rowvar=False))) for table in tables]))
    planned = plan(2000, sd=sd, conditional=True)
    decision = decide_law(planned, tables).decision
    radius = decision.upper - decision.estimate
    assert 0.93 * planned.half_width < radius <= 1.01 * planned.half_width  # sd is the mean of five estimates
    assert Shape(1.0).quantile(0.025) == pytest.approx(float(ndtri(1 - 0.025 / 2)), rel=2e-6)  # found to a millionth


def test_the_cheapest_draws_reach_the_power_and_fewer_do_not():
    few = plan(1000)
    assert not few.decides and few.why_not is Reason.UNDERPOWERED
    enough = few.cheapest(doublings=0)
    (draws,) = set(enough.core.planned_draws)
    assert enough.power() >= 0.9 > replace(enough, draws=draws - 1).power()
    assert few.cheapest().amount in few.weakness
    assert not enough.weakness


def test_a_class_that_no_draws_make_up_for():
    wide = decide.plan_law(
        SIZES[:3], to=decide.Normal(), draws=10**6, seeds="independent", corrections=Corrections(size=1.0, slowest=0.5)
    )
    assert wide.why_not is Reason.CLASS_BIAS


def test_what_is_noticed_exceeds_the_half_width():
    assert plan(4000).noticeable > plan(4000).half_width


def test_what_no_law_can_be_planned_with():
    with pytest.raises(DesignError, match="positive"):
        plan(4000, margin=0.0)
    with pytest.raises(DesignError, match="No wrong law"):
        plan(4000, excludes=())
