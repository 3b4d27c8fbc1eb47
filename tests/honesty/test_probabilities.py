"""True probabilities are refuted, and those off by the margin supported, no more often than their levels allow."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import bdtrc

from theorax.decide.probabilities import ProbabilityPlan, decide_probability
from theorax.decide.status import Status

LEVEL = 0.025
REPLICATES = 200


def most(replicates, level=LEVEL):
    """The smallest count that a binomial law at the level exceeds with probability at most 0.001."""
    return next(count for count in range(replicates) if bdtrc(count, replicates, level) <= 1e-3)


def count(outcomes, status):
    return sum(found is status for found in outcomes)


@pytest.mark.parametrize(("at_least", "margin", "draws"), [(0.99, 0.005, 1000), (0.99, 0.01, 50), (0.5, 0.2, 60)])
def test_fixed_samples(at_least, margin, draws, rng):
    plan = ProbabilityPlan(at_least=at_least, margin=margin, draws=draws)

    def statuses(truth):
        return [decide_probability(plan, int(s)).decision.status for s in rng.binomial(draws, truth, REPLICATES)]

    assert count(statuses(at_least), Status.REFUTED) <= most(REPLICATES)
    assert count(statuses(plan.boundary), Status.SUPPORTED) <= most(REPLICATES)


def test_peeking_is_caught(rng):
    """Engine mutant: Clopper and Pearson's interval asked at every look refutes a true claim far too often."""
    plan = ProbabilityPlan(at_least=0.95, margin=0.02, draws=2000)
    looks = np.arange(10, 2001, 10)
    refuted = 0
    for _ in range(REPLICATES):
        successes = np.cumsum(rng.random(2000) < plan.at_least)[looks - 1]
        refuted += any(
            decide_probability(replace(plan, draws=int(n)), int(s)).decision.status is Status.REFUTED
            for s, n in zip(successes, looks, strict=True)
        )
    assert refuted > most(REPLICATES)
