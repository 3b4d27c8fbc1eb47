"""False limits and orders that a class nobody gave a reason for lets pass, or that a slow form imitates. Planted."""

import numpy as np
from scipy.special import ndtri

from theorax import decide
from theorax.decide import Corrections

SIZES = np.array([64.0, 256, 1024, 4096, 16384])
LOGS = np.log(SIZES)
SLOW = np.log(LOGS) / LOGS


def rng(seed):
    """Random numbers of this row at this seed."""
    return np.random.default_rng([11, seed])


def limit(seed, mean, to, margin, sd=0.1, **others):
    """A limit from 200 independent draws around these means."""
    plan = decide.plan_limit(SIZES, to=to, margin=margin, draws=200, sd=sd, seeds="independent", **others)
    return decide.limit(plan, [value + sd * rng(seed + 7 * k).standard_normal(200) for k, value in enumerate(mean)])


def rate(seed, mean, margin=0.1, sd=0.2, **claimed):
    """An order from 200 independent draws around these means."""
    plan = decide.plan_rate(SIZES, margin=margin, draws=200, sd=sd, seeds="independent", **claimed)
    noise = [np.exp(sd * rng(seed + 7 * k).standard_normal(200)) for k in range(len(SIZES))]
    return decide.rate(plan, [value * part for value, part in zip(mean, noise, strict=True)])


def largest_of_normal_numbers(seed):
    """The largest of n normal numbers over the root of 2 log n tends to 1: extrapolated by powers, to 0.91."""
    largest = [ndtri(rng(seed + k).random(100) ** (1 / n)) for k, n in enumerate(SIZES)]
    plan = decide.plan_limit(SIZES, to=0.92, margin=0.05, draws=100, sd=0.1, seeds="independent")
    return decide.limit(plan, [part / np.sqrt(2 * log) for part, log in zip(largest, LOGS, strict=True)])


def with_its_logarithms(seed):
    """The same falsehood under the class that holds its corrections."""
    largest = [ndtri(rng(seed + k).random(100) ** (1 / n)) for k, n in enumerate(SIZES)]
    declared = Corrections(size=0, rest=0.02, order=1, log=0.1, loglog=0.1, reason="extreme value theory")
    plan = decide.plan_limit(SIZES, to=0.92, margin=0.05, draws=100, sd=0.1, seeds="independent", corrections=declared)
    return decide.limit(plan, [part / np.sqrt(2 * log) for part, log in zip(largest, LOGS, strict=True)])


def reached_like_a_logarithm(seed):
    """1 + 0.4 log 64/log n tends to 1; extrapolated by powers it stays above 1.1."""
    return limit(seed, 1 + 0.4 * LOGS[0] / LOGS, 1.18, 0.05)


def reached_like_a_fourth_root(seed):
    """1 + 0.5 (n/64)^-1/4 tends to 1, not to 1.08."""
    return limit(seed, 1 + 0.5 * (SIZES / 64) ** -0.25, 1.08, 0.06)


def exponential_of_a_power(seed):
    """L^-3 over 8 to 16 layers lies within the class of exp(-L/4)."""
    sizes = np.array([8.0, 10, 12, 14, 16])
    plan = decide.plan_rate(sizes, exponent=-0.25, form="exponential", margin=0.1, draws=500, seeds="independent")
    noise = [np.exp(0.2 * rng(seed + 7 * k).standard_normal(500)) for k in range(5)]
    return decide.rate(plan, [n**-3 * part for n, part in zip(sizes, noise, strict=True)])


def power_of_an_exponential(seed):
    """exp(-n/64) over a factor of two in n, claimed to be a power."""
    sizes = np.array([64.0, 80, 96, 112, 128])
    plan = decide.plan_rate(sizes, exponent=-1.4, margin=1.0, draws=400, seeds="independent")
    noise = [np.exp(0.2 * rng(seed + 7 * k).standard_normal(400)) for k in range(5)]
    return decide.rate(plan, [np.exp(-n / 64) * part for n, part in zip(sizes, noise, strict=True)])


def logarithm_in_an_order(seed):
    """n^-1 log n is no power: over these sizes it is nearest to n^-0.85, and its rival is named."""
    return rate(seed, LOGS / SIZES, exponent=-0.85)


def far_off(seed):
    """A limit of 1.6, claimed to be 1: no slow correction within the class reaches so far."""
    return limit(seed, 1.6 + 0 * SIZES, 1.0, 0.05)


def believed(seed):
    """A limit of 1.2 under a class with a reason."""
    reason = Corrections(reason="the covariance is a smooth function of n^-1/2")
    return limit(seed, 1.2 + 0.1 * (SIZES / 64) ** -0.5, 1.0, 0.05, corrections=reason)
