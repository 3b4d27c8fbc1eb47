"""True claims are refuted, and claims false at the margin supported, no more often than their levels allow.

Every count is held against the 99.9 % quantile of the binomial law at the level: a correct engine fails a row once in a
thousand names of tests, and the names are fixed.
"""

import math

import numpy as np
import pytest
from scipy.special import bdtrc, ndtri

from theorax.theorems.language.approach import Corrections, Expansion
from theorax.verifiers import interval as intervals
from theorax.verifiers.bias import Plan, Policy, Target, solve
from theorax.verifiers.decide import decide
from theorax.verifiers.decision import Levels, Status
from theorax.verifiers.estimate import betting, catoni, deterministic, log_of_mean, paired, proportion
from theorax.verifiers.laws import (
    decide_law,
    features_of_characteristic,
    features_of_samples,
    gauss_hermite,
    planned_sd,
)

LEVEL = 0.025
REPLICATES = 400


def most(replicates, level=LEVEL):
    """The smallest count that a binomial law at the level exceeds with probability at most 0.001."""
    return next(count for count in range(replicates) if bdtrc(count, replicates, level) <= 1e-3)


def doubling(first, last):
    return np.array([float(first) * 2.0**i for i in range(round(math.log2(last / first)) + 1)])


def tally(outcomes):
    statuses = list(outcomes)
    return sum(s is Status.REFUTED for s in statuses), sum(s is Status.SUPPORTED for s in statuses)


SMOOTH = Expansion((1,), rest=0.125, order=2, reason="half the square of a correction of 0.5 / n")
SHORT, POWERED = (16, 1024, 32), (32, 8192, 64)
RATES = {
    "clean": (SHORT, Corrections(), lambda x: 0 * x),
    "square root": (SHORT, Corrections(), lambda x: np.log1p(0.6 * x**-0.5)),
    "negative square root": (SHORT, Corrections(), lambda x: np.log1p(-0.35 * x**-0.5)),
    "two corrections": (SHORT, Corrections(), lambda x: np.log1p(0.35 * x**-0.5 - 0.2 / x)),
    "powered, square root": (POWERED, Corrections(), lambda x: np.log1p(0.6 * x**-0.5)),
    "powered, largest member": (POWERED, Corrections(), lambda x: 0.5 * x**-0.5),
    "expansion": (SHORT, SMOOTH, lambda x: np.log1p(0.5 / x)),
}


def rate_outcomes(rng, name, truth, draws=None, replicates=REPLICATES):
    (first, last, m), allowed, correction = RATES[name]
    n = doubling(first, last)
    m = draws or m
    weights = solve(Plan(tuple(n), allowed, draws=m, policy=Policy.PAIRED))
    mean = -truth * np.log(n) + correction(n / n[0])
    for _ in range(replicates):
        table = mean + 0.2 * rng.standard_normal((m, len(n)))
        yield decide(paired(table, weights.vector, weights.bias.total), 1.0, 0.1).status


@pytest.mark.parametrize("name", RATES)
def test_a_true_rate_is_rarely_refuted(name, rng):
    assert tally(rate_outcomes(rng, name, 1.0))[0] <= most(REPLICATES)


@pytest.mark.parametrize("truth", [0.9, 1.1])
@pytest.mark.parametrize("name", RATES)
def test_a_rate_off_by_the_margin_is_rarely_supported(name, truth, rng):
    assert tally(rate_outcomes(rng, name, truth))[1] <= most(REPLICATES)


def limit_outcomes(rng, truth, power, draws=400):
    n = doubling(64, 4096)
    no_rest = Corrections(rest=0, reason="a single power")
    weights = solve(Plan(tuple(n), no_rest, Target.LIMIT, sd=1.0, draws=draws, policy=Policy.PAIRED))
    mean = truth + 0.4 * (n / n[0]) ** -power
    for _ in range(REPLICATES):
        table = mean + rng.standard_normal((draws, len(n)))
        yield decide(paired(table, weights.vector, weights.bias.total), 0.0, 0.2).status


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_limits(power, rng):
    assert tally(limit_outcomes(rng, 0.0, power))[0] <= most(REPLICATES)
    assert tally(limit_outcomes(rng, -0.2, power))[1] <= most(REPLICATES)


@pytest.mark.parametrize("sd", [0.2, 0.6])
def test_log_of_a_mean(sd, rng):
    n = doubling(16, 256)
    exact = Corrections(size=0, rest=0, reason="an exact power law")
    weights = solve(Plan(tuple(n), exact, sd=sd, draws=10, policy=Policy.PAIRED))

    def outcomes(truth):
        for _ in range(REPLICATES):
            q = n**-truth * rng.lognormal(0, sd, (10, len(n)))
            yield decide(log_of_mean(q, weights.vector), 1.0, 0.5).status

    assert tally(outcomes(1.0))[0] <= most(REPLICATES)
    assert tally(outcomes(1.5))[1] <= most(REPLICATES)


def test_a_deterministic_order_is_never_refuted_nor_supported_at_the_margin(rng):
    n = doubling(8, 256)
    allowed = Expansion((1,), rest=0.6, order=2, reason="second order of a smooth expansion")
    weights = solve(Plan(tuple(n), allowed, policy=Policy.DETERMINISTIC))
    x = n / n[0]

    def status(truth):
        b = rng.uniform(-1, 1, 2)
        row = -truth * np.log(n) + np.log(1 + 0.8 * b[0] / x + 0.15 * b[1] / x**2)
        return decide(deterministic(row, weights.vector, weights.bias.total), 1.0, 0.1).status

    assert tally(status(1.0) for _ in range(REPLICATES)) == (0, REPLICATES)
    assert tally(status(1.1) for _ in range(REPLICATES))[1] == 0
    assert tally(status(0.9) for _ in range(REPLICATES))[1] == 0


DECLARED = {
    "two values, rare": (lambda rng: (rng.random(200) < 0.01).astype(float), 0.01, proportion),
    "two values": (lambda rng: (rng.random(50) < 0.4).astype(float), 0.4, proportion),
    "range, rare spikes": (lambda rng: (rng.random(200) < 0.01).astype(float), 0.01, lambda x: betting(x, 0, 1)),
    "range": (lambda rng: rng.random(50) ** 3, 0.25, lambda x: betting(x, 0, 1)),
    "variance, heavy tail": (lambda rng: rng.pareto(2.2, 50) * 0.2, 0.2 / 1.2, lambda x: catoni(x, 0.318)),
    "variance, normal": (lambda rng: rng.standard_normal(20), 0.0, lambda x: catoni(x, 1.0)),
}


@pytest.mark.parametrize("name", DECLARED)
def test_means_under_their_declaration(name, rng):
    draw, mean, interval = DECLARED[name]

    def outcomes(claimed):
        for _ in range(REPLICATES // 2):
            yield decide(interval(draw(rng)), claimed, 0.3).status

    assert tally(outcomes(mean))[0] <= most(REPLICATES // 2)
    assert tally(outcomes(mean + 0.3))[1] <= most(REPLICATES // 2)


def test_laws(rng):
    frequencies = gauss_hermite()
    t = frequencies.table[:, 0]
    target = features_of_characteristic(np.exp(-(t**2) / 2), frequencies)
    sizes, draws, replicates = (16, 32, 64, 128, 256), 1000, 60
    allowed = Corrections(size=0.05, slowest=1, reason="a polynomial in 1/n")
    weights = solve(Plan(sizes, allowed, Target.LIMIT, planned_sd(target), draws))
    # A margin at which this many draws decide: the law at the margin has the variance that lies this far away.
    edge = features_of_characteristic(np.exp(-(t**2) * 1.6 / 2), frequencies)
    margin = float(np.linalg.norm(edge - target))

    def outcomes(variance):
        for _ in range(replicates):
            spread = [math.sqrt(variance + 0.1 * 16 / n) for n in sizes]
            samples = [s * rng.standard_normal(draws) for s in spread]
            yield decide_law([features_of_samples(x, frequencies) for x in samples], target, weights, margin).status

    refuted, supported = tally(outcomes(1.0))
    assert refuted <= most(replicates)
    # The width is planned at a quarter of the margin: a true law is supported nearly always.
    assert supported >= replicates - most(replicates)
    assert tally(outcomes(1.6))[1] <= most(replicates)


def test_engine_mutant_without_bias_is_caught(rng, monkeypatch):
    """Removing the bias term refutes true rates beyond any binomial chance: the gates above would fail."""
    name = "powered, largest member"
    (first, last, m), allowed, correction = RATES[name]
    n = doubling(first, last)
    weights = solve(Plan(tuple(n), allowed, draws=m, policy=Policy.PAIRED))
    mean = -np.log(n) + correction(n / n[0])

    def outcomes(bias):
        for _ in range(REPLICATES):
            table = mean + 0.2 * rng.standard_normal((m, len(n)))
            yield decide(paired(table, weights.vector, bias), 1.0, 0.1).status

    assert tally(outcomes(weights.bias.total))[0] <= most(REPLICATES)
    assert tally(outcomes(0.0))[0] > most(REPLICATES)


def mean_of_five(rng):
    for _ in range(REPLICATES):
        yield decide(paired(rng.standard_normal((5, 1))), 0.0, 5.0).status


def test_a_mean_of_five_draws(rng):
    assert tally(mean_of_five(rng))[0] <= most(REPLICATES)


def test_engine_mutant_normal_quantile_is_caught(rng, monkeypatch):
    monkeypatch.setattr(intervals, "stdtrit", lambda df, p: ndtri(p))
    assert tally(mean_of_five(rng))[0] > most(REPLICATES)


def test_p_values_are_super_uniform(rng):
    p = np.array([decide(paired(rng.standard_normal((6, 1))), 0.0, 1.0, levels=Levels()).p_refute for _ in range(1000)])
    # One-sided Kolmogorov-Smirnov at 0.001: the distribution function of p exceeds the diagonal by at most this.
    allowed = math.sqrt(math.log(1 / 1e-3) / 2 / len(p))
    assert np.max(np.arange(1, len(p) + 1) / len(p) - np.sort(p)) <= allowed
