"""True probabilities are refuted, and those off by the margin supported, no more often than their levels allow."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import bdtrc

from theorax.decide.monitoring import Monitor
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


def watched(rng, plan, truth, replicates=REPLICATES):
    found = []
    for _ in range(replicates):
        monitor = Monitor(plan).add(rng.random(plan.draws) < truth)
        found.append((monitor.decision.status, monitor.draws))
    return [status for status, _ in found], float(np.mean([draws for _, draws in found]))


def test_a_monitor_asked_after_every_ten_draws(rng):
    """Published: refuted .004, supported at the margin .021, power .992 and .966 with a cap of 5000 draws.

    Mean draws to decision 1495 and 1823 at the boundaries and 224 far inside. Each band is three standard errors of
    the mean of 200 stopping times, whose standard deviation is below their mean.
    """
    plan = ProbabilityPlan(at_least=0.95, margin=0.02, draws=5000, every=10)
    for truth, right, wrong, power, published in (
        (plan.at_least, Status.SUPPORTED, Status.REFUTED, 0.992, 1495),
        (plan.boundary, Status.REFUTED, Status.SUPPORTED, 0.966, 1823),
    ):
        statuses, draws = watched(rng, plan, truth)
        assert count(statuses, wrong) <= most(REPLICATES)
        assert count(statuses, right) >= (power - 0.05) * REPLICATES
        assert abs(draws - published) <= 3 * published / np.sqrt(REPLICATES)


def test_peeking_without_an_e_process_is_caught(rng):
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
