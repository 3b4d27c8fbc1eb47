"""Constants that rounding makes different, and the claimed law's own quantiles."""

import numpy as np

from theorax import decide

SIZES = [16, 33, 64, 129]


def rounded_mean(seed):
    """2, computed in another order each time; the fourth moment meant is 3."""
    draws = np.random.default_rng([11, seed]).permuted(np.tile(np.arange(1, 41) / 410, (600, 1)), axis=1)
    sums = np.array([sum(row.tolist()) for row in draws])
    return decide.mean(decide.plan_mean(to=2.0, margin=0.1, draws=600, sd=0.3), sums)


def rounded_limit(seed):
    """A fit of the limit evaluated for each draw, with the rounding of its inputs."""
    rng = np.random.default_rng([12, seed])
    values = (1 + 0.1 / np.array(SIZES)) * (1 + 2.0**-52 * rng.integers(-3, 4, (400, 4)))
    plan = decide.plan_limit(SIZES, to=1.0, margin=0.3, draws=400, sd=0.3, seeds="independent")
    return decide.limit(plan, values)


def rounded_rate(seed):
    """The claimed rate itself, rounded."""
    rng = np.random.default_rng([13, seed])
    values = np.array(SIZES, float) ** -2 * (1 + 2.0**-52 * rng.integers(-3, 4, (400, 4)))
    return decide.rate(decide.plan_rate(SIZES, exponent=-2, margin=0.6, draws=400, seeds="independent"), values)


def rounded_median(seed):
    values = 2 * (1 + 2.0**-52 * np.random.default_rng([14, seed]).integers(-3, 4, 500))
    return decide.quantile(decide.plan_quantile(to=2.0, margin=0.3, draws=500), values)


def own_quantiles(seed):
    """The law's own quantiles in the place of draws of what was meant, in another order."""
    shares = (np.random.default_rng([15, seed]).permutation(4000) + 0.5) / 4000
    return decide.law(decide.plan_law(to=decide.Uniform(), draws=4000, margin=0.2), shares)
