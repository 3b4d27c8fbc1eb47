"""Laws given a conditional variance: published powers, and neither error above its level; the bias term is needed."""

import numpy as np
import pytest
from scipy.special import bdtrc

from theorax import decide
from theorax.decide.corrections import Corrections, Expansion
from theorax.decide.law_distance import _decided, _Extrapolated
from theorax.decide.law_features import (
    distance,
    features_of_characteristic,
    features_of_conditional_variance,
    gauss_hermite,
)
from theorax.decide.laws import decide_law
from theorax.decide.status import Reading, Status

LEVEL, REPLICATES, DRAWS = 0.025, 60, 500
SIZES = (16, 32, 64, 128, 256)
F = gauss_hermite()
CLASSES = {
    "expansion": Expansion((1,), rest=0.002, order=2, reason="the third term of a smooth expansion"),
    "bounded": Corrections(size=0.05, slowest=1, reason="a polynomial in 1/n"),
}


def most(replicates, level=LEVEL):
    """The smallest count that a binomial law at the level exceeds with probability at most 0.001."""
    return next(count for count in range(replicates) if bdtrc(count, replicates, level) <= 1e-3)


def gaussian(variance):
    return features_of_characteristic(np.exp(-(F.table[:, 0] ** 2) * variance / 2), F)


MARGIN = distance(gaussian(1), gaussian(1.1))


def tables(rng, variance):
    """A net whose last layer is Gaussian given n hidden units: a chi-square scale mixture."""
    return [features_of_conditional_variance(variance * rng.chisquare(n, DRAWS) / n, F) for n in SIZES]


def planned(allowed):
    return decide.plan_law(
        SIZES,
        to=decide.Normal(),
        draws=DRAWS,
        sd=0.1,
        seeds="independent",
        conditional=True,
        corrections=allowed,
        reading="exact",
    )


@pytest.mark.parametrize("name", CLASSES)
def test_published_power_and_levels(name, rng):
    """Published at 500 draws: supported 1.00, refuted .996 and .991 at the margin, wrongly .000 and .004 to .009."""
    plan = planned(CLASSES[name])
    true = [decide_law(plan, tables(rng, 1.0)).decision.status for _ in range(REPLICATES)]
    false = [decide_law(plan, tables(rng, 1.1)).decision.status for _ in range(REPLICATES)]
    assert true.count(Status.REFUTED) <= most(REPLICATES)
    assert false.count(Status.SUPPORTED) <= most(REPLICATES)
    assert true.count(Status.SUPPORTED) >= 0.95 * REPLICATES
    assert false.count(Status.REFUTED) >= 0.94 * REPLICATES


def test_engine_mutant_without_bias_is_caught(rng):
    """The largest member of the class, not removed by the weights: refuted beyond any chance once the bias is ignored."""
    allowed = Corrections(size=0.05, slowest=1, reason="a polynomial in 1/n")
    weights = planned(allowed).weights
    direction = gaussian(1) / np.linalg.norm(gaussian(1))
    x = np.array(SIZES) / SIZES[0]
    worst = max(np.linspace(1, 2, 61), key=lambda w: abs(weights.vector @ x**-w))
    member = np.sign(weights.vector @ x**-worst) * 0.05 * x**-worst
    replicates = REPLICATES // 2

    def refuted(bias):
        count = 0
        for _ in range(replicates):
            limits = [features_of_conditional_variance(rng.chisquare(4096, DRAWS) / 4096, F) for _ in SIZES]
            moved = [table + part * direction for part, table in zip(member, limits, strict=True)]
            found = _Extrapolated.of(moved, gaussian(1), weights, None)
            count += _decided(found, bias, MARGIN, weights.plan.levels, Reading.EXACT).status is Status.REFUTED
        return count

    assert refuted(weights.bias.total) <= most(replicates)
    assert refuted(0.0) > most(replicates)
