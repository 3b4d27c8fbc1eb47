"""Designs about laws: the noise's shape in closed form and from a pilot, planned power as it happens, refusals."""

import math
from dataclasses import replace

import numpy as np
import pytest

from theorax.decide.corrections import Corrections
from theorax.decide.designs import Plan, Target
from theorax.decide.law_distance import (
    decide_law,
    distance,
    features_of_characteristic,
    features_of_samples,
    gauss_hermite,
    joint,
    planned_sd,
)
from theorax.decide.law_power import LawPlan, Shape, require_law, shape_of_characteristic, shape_of_features
from theorax.decide.status import Status
from theorax.errors import DesignError

F = gauss_hermite()
SIZES = (16, 32, 64, 128, 256)
LAWS = Corrections(size=0.05, slowest=1, reason="the law is a polynomial in 1/n")


def gaussian(variance):
    return features_of_characteristic(np.exp(-(F.table[:, 0] ** 2) * variance / 2), F)


MARGIN = distance(gaussian(1), gaussian(1.1))
SHAPE = shape_of_characteristic(lambda t: np.exp(-(t**2) / 2), F)


def plan(draws):
    return LawPlan(Plan(SIZES, LAWS, Target.LIMIT, draws=draws), MARGIN, SHAPE)


def test_the_closed_form_is_what_draws_show(rng):
    assert math.isclose(SHAPE.sd, planned_sd(gaussian(1)), rel_tol=1e-12)
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


def test_planned_power_is_what_happens(rng):
    planned, replicates = plan(4000), 60
    supported = 0
    for _ in range(replicates):
        tables = [features_of_samples(rng.standard_normal(4000), F) for _ in SIZES]
        decision = decide_law(tables, gaussian(1), planned.weights, MARGIN)
        supported += decision.status is Status.SUPPORTED
    # 99.9 % fluctuation on both sides.
    allowed = 3.29 * math.sqrt(planned.power() * (1 - planned.power()) / replicates)
    assert abs(supported / replicates - planned.power()) < allowed
    # The half-width is that of the decision, whose covariance is estimated from 20000 draws.
    assert math.isclose(decision.upper - decision.estimate, planned.half_width, rel_tol=0.03)


def test_the_cheapest_draws_reach_the_power_and_fewer_do_not():
    few = plan(1000)
    assert not few.decides()
    proposal = few.cheapest()
    draws = proposal.weights.plan.planned_draws[0]
    assert replace(few, plan=replace(few.plan, draws=draws)).power() >= 0.8
    assert replace(few, plan=replace(few.plan, draws=draws - 1)).power() < 0.8
    with pytest.raises(DesignError, match=rf"and {draws} draws at each"):
        require_law(few)
    require_law(plan(draws))


def test_one_direction_is_the_widest_and_what_is_noticed_exceeds_the_half_width():
    narrow, wide = plan(4000), replace(plan(4000), shape=Shape(SHAPE.sd))
    assert narrow.half_width < wide.half_width
    assert narrow.noticeable() > narrow.half_width
    assert narrow.noticeable(0.99) > narrow.noticeable(0.9)


def test_a_law_is_planned_as_a_limit():
    with pytest.raises(DesignError, match="extrapolated as a limit"):
        LawPlan(Plan(SIZES), MARGIN, SHAPE)
    with pytest.raises(DesignError, match="positive margin"):
        LawPlan(Plan(SIZES, LAWS, Target.LIMIT), 0.0, SHAPE)
