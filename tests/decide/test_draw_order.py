"""Draws that depend on earlier ones are found, and independent draws of any law are not, at the level that is printed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from theorax import decide
from theorax.decide.draw_order import LEVEL, look_at_order, serial_correlations
from theorax.decide.status import Reason, Status

NULL = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.random(n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n),
    "natural ties": lambda rng, n: np.round(rng.normal(size=n)),
    "coins": lambda rng, n: (rng.random(n) < 0.5).astype(float),
    "rare events": lambda rng, n: (rng.random(n) < 0.1).astype(float),
    "one value mostly": lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)),
}
REPEATS = 1500


@pytest.mark.parametrize("law", NULL)
@pytest.mark.parametrize("n", [40, 400])
def test_independent_draws_are_told_apart_from_dependent_ones(rng, law, n):
    alarms = sum(bool(look_at_order([NULL[law](rng, n)]).findings) for _ in range(REPEATS))
    # A rate at or below the level lies below this with probability 1 - 1e-4.
    assert alarms <= stats.binom.ppf(1 - 1e-4, REPEATS, LEVEL)


def chain(rng, n, r):
    found = np.zeros(n)
    for at in range(1, n):
        found[at] = r * found[at - 1] + rng.normal()
    return found


DEPENDENT = {
    "a slow chain": lambda rng: chain(rng, 400, 0.5),
    "runs one after another": lambda rng: np.repeat(rng.normal(size=8), 25) + 0.1 * rng.normal(size=200),
    "runs in turn": lambda rng: np.tile(rng.normal(size=4), 50) + 0.1 * rng.normal(size=200),
    "a table pasted twice": lambda rng: np.tile(rng.normal(size=101), 2),
    "a table pasted three times": lambda rng: np.tile(rng.normal(size=67), 3),
    "a long table pasted twice": lambda rng: np.tile(rng.normal(size=6000), 2),
    "sorted rows": lambda rng: np.sort(rng.normal(size=100)),
    "a drift": lambda rng: rng.normal(size=200) + np.linspace(0, 4, 200),
    "outcomes in runs": lambda rng: np.repeat((rng.random(60) < 0.5).astype(float), 5),
    "rare outcomes in runs": lambda rng: np.repeat((rng.random(200) < 0.1).astype(float), 5),
    "every row twice": lambda rng: np.repeat(rng.normal(size=100), 2),
}


@pytest.mark.parametrize("kind", DEPENDENT)
def test_dependent_draws_are_found(rng, kind):
    (found,) = look_at_order([DEPENDENT[kind](rng)]).findings
    assert found.reason == Reason.DEPENDENT


def test_moments_are_those_of_all_orders():
    values = np.array([0.0, 1.0, 1.0, 5.0, 7.0, 8.0])
    found = [serial_correlations(np.array(order), [1])[1] for order in itertools.permutations(values)]
    assert np.mean(found) == pytest.approx(0, abs=1e-12)
    assert np.mean(np.square(found)) == pytest.approx(1, rel=1e-12)


def test_every_procedure_looks_at_the_order(rng):
    values = np.tile(rng.normal(1, 0.3, size=4), 100) + 1e-3 * rng.normal(size=400)
    shuffled = rng.normal(1, 0.3, size=400)
    mean = decide.plan_mean(to=1.0, margin=0.4, draws=400, sd=0.3)
    probability = decide.plan_probability(at_least=0.5, margin=0.2, draws=400)
    bound = decide.plan_inequality(draws=400, share=0.05)
    quantile = decide.plan_quantile(to=1.0, margin=0.9, draws=400)
    for draws, status in ((values, Status.INCONCLUSIVE), (shuffled, Status.SUPPORTED)):
        assert decide.mean(mean, draws).status is status
        assert decide.inequality(bound, draws, 9.0).status is status
        assert decide.quantile(quantile, draws).status is status
    outcomes = np.repeat((rng.random(80) < 0.9).astype(float), 5)
    assert decide.probability(probability, outcomes).status is Status.INCONCLUSIVE
    assert decide.probability(probability, rng.permutation(outcomes)).status is Status.SUPPORTED
    sizes = (64, 128, 256, 512)
    rate = decide.plan_rate(sizes, exponent=-1.0, margin=0.3, draws=200)
    noise = np.repeat(rng.normal(size=(20, 4)), 10, axis=0)
    for order, status in ((noise, Status.INCONCLUSIVE), (rng.normal(size=(200, 4)), Status.SUPPORTED)):
        assert decide.rate(rate, np.exp(0.1 * order) / np.array(sizes)).status is status


def test_the_ledger_says_tested_only_of_what_was_tested(rng):
    plan = decide.plan_mean(to=1.0, margin=0.4, draws=20, sd=0.3)
    kinds = [line.kind for line in decide.mean(plan, rng.normal(1, 0.3, 20)).ledger]
    assert "order" not in kinds and "independence" in kinds
