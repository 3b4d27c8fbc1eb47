"""Features of laws, their distances, and decisions about extrapolated laws."""

import math

import numpy as np
import pytest

from theorax import decide
from theorax.decide.corrections import Corrections
from theorax.decide.law_distance import is_robust_law, misfit_law
from theorax.decide.law_features import (
    distance,
    features_of_characteristic,
    features_of_conditional_variance,
    features_of_samples,
    gauss_hermite,
    joint,
    margin_of_panel,
)
from theorax.decide.laws import decide_law
from theorax.decide.status import Reason, Status
from theorax.errors import DesignError, ObservationError

F = gauss_hermite()
LAWS = Corrections(size=0.05, slowest=1, reason="the law is a polynomial in 1/n")
SD = decide.Normal().noise(F).sd


def gaussian(variance, frequencies=F):
    t = frequencies.table[:, 0]
    return features_of_characteristic(np.exp(-(t**2) * variance / 2), frequencies)


# Published distances of N(0, v) from N(0, 1), to their last digit.
@pytest.mark.parametrize(("variance", "published"), [(1.1, 0.0211), (1.05, 0.0107), (1.2, 0.0405)])
def test_published_margins(variance, published):
    assert abs(distance(gaussian(1), gaussian(variance)) - published) <= 0.00005 * (1 + 1e-9)


def test_distance_is_the_literal_integral():
    """D^2 is the Gaussian average of (e^(-t^2/2) - e^(-v t^2/2))^2: three Gaussian integrals."""
    v = 1.2
    exact = 1 / math.sqrt(3) - 2 / math.sqrt(2 + v) + 1 / math.sqrt(1 + 2 * v)
    # The rule of 40 nodes errs by less than 1e-10 on e^(-v t^2) with v near one; D^2 itself is 1.6e-3.
    assert abs(distance(gaussian(1), gaussian(v)) ** 2 - exact) < 1e-10


def test_features_of_samples_are_those_of_their_law(rng):
    features = features_of_samples(rng.standard_normal(20_000), F)
    # The mean square of the distance is SD^2 / N; six times its root is beyond any chance.
    assert distance(features.mean(axis=0), gaussian(1)) < 6 * SD / math.sqrt(20_000)


def test_scale_looks_at_a_law_on_its_own_scale(rng):
    x = rng.standard_normal((50, 7))
    assert np.allclose(
        features_of_samples(4 * x, gauss_hermite(4)), features_of_samples(x, F), rtol=0, atol=64 * 2.0**-52
    )  # angles up to 40, the cosine's error is the angle's


def test_a_draw_is_one_unit_however_many_values_it_holds(rng):
    draws = rng.standard_normal((30, 11))
    features = features_of_samples(draws, F)
    single = np.stack([features_of_samples(draw, F).mean(axis=0) for draw in draws])
    assert features.shape == (30, 40)
    assert np.abs(features - single).max() < 16 * 2.0**-52  # eleven terms below one, in another order


def test_joint_law_sees_a_correlation(rng):
    identity = np.eye(2)
    frequencies = joint(identity)
    t = frequencies.table

    def target(covariance):
        return features_of_characteristic(np.exp(-np.einsum("ja,ab,jb->j", t, covariance, t) / 2), frequencies)

    features = features_of_samples(rng.standard_normal((4000, 2)), frequencies).mean(axis=0)
    assert distance(features, target(identity)) < distance(features, target(np.array([[1, 0.3], [0.3, 1]])))


def planned(draws, seeds="independent", margin=0.05):
    return decide.plan_law(
        (16, 32, 64, 128, 256),
        to=decide.Normal(),
        draws=draws,
        seeds=seeds,
        corrections=LAWS,
        margin=margin,
        reading="exact",
    )


def decided(plan, features, reference=None):
    return decide_law(plan, features, reference).decision


def sample(rng, limit_variance, draws, paired=False):
    z = rng.standard_normal(draws)
    return [
        features_of_samples(np.sqrt(limit_variance + 0.05 * 16 / n) * (z if paired else rng.standard_normal(draws)), F)
        for n in (16, 32, 64, 128, 256)
    ]


@pytest.mark.parametrize("paired", [False, True])
def test_a_true_law_is_supported_and_a_wrong_variance_refuted(paired, rng):
    margin, nearest = margin_of_panel(gaussian(1), {"a tenth wider": gaussian(1.1), "a fifth wider": gaussian(1.2)})
    assert nearest == "a tenth wider"
    plan = planned(40_000, "paired" if paired else "independent", margin)
    assert decided(plan, sample(rng, 1.0, 40_000, paired)).status is Status.SUPPORTED
    wrong = decided(plan, sample(rng, 1.1, 40_000, paired))
    assert wrong.status is Status.REFUTED
    assert wrong.p_refute <= 0.025


def test_few_draws_decide_nothing(rng):
    decision = decided(planned(200), sample(rng, 1.0, 200))
    assert decision.status is Status.INCONCLUSIVE
    assert decision.reason is Reason.UNDERPOWERED


def test_features_given_a_variance_have_the_mean_of_raw_ones_and_less_noise(rng):
    variances = rng.chisquare(8, 20_000) / 8
    averaged = features_of_conditional_variance(variances, F)
    raw = features_of_samples(np.sqrt(variances) * rng.standard_normal(20_000), F)
    assert distance(averaged.mean(axis=0), raw.mean(axis=0)) < 6 * SD / math.sqrt(20_000)
    assert np.trace(np.cov(averaged, rowvar=False)) < np.trace(np.cov(raw, rowvar=False)) / 10
    assert np.array_equal(features_of_conditional_variance([1.0], F)[0], gaussian(1))


def test_conditional_covariances_are_the_literal_quadratic_forms(rng):
    frequencies = joint(np.eye(3))
    roots = rng.standard_normal((5, 3, 3))
    covariances = roots @ np.swapaxes(roots, 1, 2)
    found = features_of_conditional_variance(covariances, frequencies)
    for row, matrix in zip(found, covariances, strict=True):
        literal = [math.exp(-float(t @ matrix @ t) / 2) for t in frequencies.table]
        # Nine products of entries below ten, and the exponential's own condition.
        assert np.abs(row[:128] - frequencies.amplitudes * literal).max() < 1e3 * 2.0**-52
        assert not row[128:].any()
    with pytest.raises(ObservationError, match="negative variance"):
        features_of_conditional_variance(-covariances, frequencies)


def test_a_reference_sample_stands_in_for_a_law_without_closed_form(rng):
    plan = planned(40_000)
    reference = features_of_samples(rng.standard_normal(200_000), F)
    closed = decided(plan, features := sample(rng, 1.0, 40_000))
    sampled = decided(plan, features, reference)
    assert (closed.status, sampled.status) == (Status.SUPPORTED, Status.SUPPORTED)
    assert sampled.se > closed.se  # the reference's own noise is added
    wrong = features_of_samples(1.2 * rng.standard_normal(200_000), F)
    assert decided(plan, features, wrong).status is Status.REFUTED


def test_robustness_and_the_alarm_of_laws(rng):
    features, plan = sample(rng, 1.0, 40_000), planned(40_000, margin=0.1)
    supported = decided(plan, features)
    assert supported.robust and is_robust_law(supported, features, gaussian(1), plan.core)
    assert not misfit_law(features, plan.core)
    jump = [features_of_samples((1 + (n == 64)) * rng.standard_normal(40_000), F) for n in (16, 32, 64, 128, 256)]
    assert misfit_law(jump, plan.core)
    assert not decided(plan, jump).robust


REFUSED = [
    (lambda: features_of_conditional_variance([-1.0], F), ObservationError, "negative"),
    (lambda: features_of_conditional_variance(np.ones((2, 2, 2)), F), ObservationError, "shape"),
    (lambda: features_of_samples([], F), ObservationError, "has no law"),
    (lambda: features_of_samples(np.zeros((3, 4, 5)), F), ObservationError, "1 dimensions"),
    (lambda: features_of_characteristic(np.full(20, 1.5), F), DesignError, "none above one"),
    (lambda: margin_of_panel(gaussian(1), {}), DesignError, "No wrong law"),
    (lambda: margin_of_panel(gaussian(1), {"same": gaussian(1)}), DesignError, "Leave it out"),
    (lambda: gauss_hermite(nodes=41), DesignError, "even number"),
]


@pytest.mark.parametrize(("make", "error", "because"), REFUSED)
def test_laws_that_cannot_be_meant(make, error, because):
    with pytest.raises(error, match=because):
        make()
