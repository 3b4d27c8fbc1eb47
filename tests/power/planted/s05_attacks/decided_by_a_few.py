"""Means of products, of importance weights, of waiting times: a few draws that are missing hold most of them."""

import numpy as np

from theorax import decide

N = np.array([16.0, 33, 64, 130, 257])


def importance_weights(seed):
    """Weights between Gaussians of three standard deviations have mean 1, and look as if it were near 1/2."""
    z = np.random.default_rng([21, seed]).standard_normal(2000)
    return decide.mean(decide.plan_mean(to=0.4, margin=0.3, draws=2000, sd=1.5), np.exp(3 * z - 4.5))


def product_of_layers(seed):
    """The squared product of twelve Gaussian weights has mean 1."""
    z = np.random.default_rng([22, seed]).standard_normal((3000, 12))
    return decide.mean(decide.plan_mean(to=0.25, margin=0.3, draws=3000, sd=2.0), (z**2).prod(axis=1))


def doubling_game(seed):
    """Stakes doubled until the first win: no mean."""
    rounds = np.random.default_rng([23, seed]).geometric(0.5, 4000)
    return decide.mean(decide.plan_mean(to=12.0, margin=4.0, draws=4000, sd=50.0), 2.0**rounds)


def last_layer_by_width(seed):
    """At each width a log-normal gain of mean 1, said to tend to 1/2."""
    z = np.random.default_rng([24, seed]).standard_normal((1500, 5))
    plan = decide.plan_limit(N, to=0.4, margin=0.35, draws=1500, sd=1.0, seeds="independent")
    return decide.limit(plan, np.exp(2.8 * z - 3.92))


def worst_loss(seed):
    """At most 3, for losses with a tail of index 1.1 whose mean is 11."""
    values = 1 + np.random.default_rng([25, seed]).pareto(1.1, 1000)
    return decide.mean(decide.plan_mean(to=5.0, margin=3.0, draws=1000, sd=10.0, side="at most"), values)


def mean_rate(seed):
    """Log of the mean of log-normal draws whose spread grows with n: the mean is n^1, its draws look flat."""
    z = np.random.default_rng([26, seed]).standard_normal((20000, 5))
    s = np.sqrt(2 * np.log(N))
    plan = decide.plan_rate(
        N, exponent=0.45, margin=0.5, draws=20000, sd=3.0, seeds="independent", average="log of mean"
    )
    return decide.rate(plan, np.exp(s * z))
