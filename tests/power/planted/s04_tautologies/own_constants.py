"""Numbers of one's own that hold the prediction, or scatter far less than what was to be measured."""

import numpy as np

from theorax import decide

SIZES = [16, 32, 64, 128]


def mean(seed):
    """The fourth moment of normal numbers is three."""
    return decide.mean(decide.plan_mean(to=2.0, margin=0.1, draws=500, sd=1.0), np.full(500, 2.0))


def median(seed):
    plan = decide.plan_quantile(to=2.0, margin=0.3, draws=500, sd=1.0)
    return decide.quantile(plan, np.full(500, 2.0))


def limit(seed):
    """At each size another number, the same in every draw."""
    plan = decide.plan_limit(SIZES, to=1.0, margin=0.3, draws=400, sd=0.5)
    return decide.limit(plan, np.tile(1 + 0.1 / np.array(SIZES), (400, 1)))


def rate(seed):
    plan = decide.plan_rate(SIZES, exponent=-2, margin=0.6, draws=400, seeds="independent")
    return decide.rate(plan, np.tile(np.array(SIZES, float) ** -2, (400, 1)))


def bound(seed):
    """Two numbers, written five hundred times."""
    return decide.inequality(decide.plan_inequality(draws=500), np.full(500, 0.4), np.full(500, 0.5))


def narrow_mean(seed):
    """Means of ten thousand numbers each, where single ones were planned."""
    values = 2 + np.random.default_rng(seed).standard_normal((500, 10000)).mean(axis=1)
    return decide.mean(decide.plan_mean(to=2.0, margin=0.2, draws=500, sd=1.0), values)


def narrow_rate(seed):
    """A fit to the rate in the place of what was fitted."""
    rng = np.random.default_rng(seed)
    plan = decide.plan_rate(SIZES, exponent=-2, margin=0.6, draws=400, sd=0.5, seeds="independent")
    return decide.rate(plan, np.array(SIZES, float) ** -2 * np.exp(0.001 * rng.standard_normal((400, 4))))
