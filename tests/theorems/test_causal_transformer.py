"""The causal Transformer with explicit weights against sums written out."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from theorax.numerics import platform
from theorax.theorems.causal_kernel_descent._transformer import kernel_descent_transformer

UNIT = 2.0**-53
LAYERS, STEP = 3, 0.3


def tokens():
    return np.random.default_rng(2).normal(size=(6, 2)) / 2


def literal(X, exponential, softmax, boundary):
    """The recursion of one position after another, as it is printed."""
    T, d = X.shape
    weight = (lambda a, b: np.exp(a @ b)) if exponential else (lambda a, b: a @ b)
    before = np.concatenate([np.zeros((1, d)), X[:-1]])
    u = np.zeros((T, d))
    for _ in range(LAYERS):
        new = u.copy()
        for t in range(T):
            first = [weight(X[t], X[s]) for s in range(t + 1)]
            second = [weight(X[t], before[s]) if s or not boundary else 0.0 for s in range(t + 1)]
            own, other = sum(first), sum(second)
            one = own if softmax else 1.0
            two = {0: 1.0, 1: own, 2: other if t or not boundary else 1.0}[softmax]
            new[t] -= STEP * sum(w * u[s] for s, w in enumerate(first)) / one
            new[t] += STEP * sum(w * X[s] for s, w in enumerate(second)) / two
        u = new
    return u


@pytest.mark.parametrize(
    ("exponential", "softmax", "boundary"),
    [(0, 0, 1), (0, 0, 0), (1, 0, 1), (1, 0, 0), (1, 1, 1), (1, 2, 1), (1, 2, 0)],
)
def test_layers_are_the_printed_sums(exponential, softmax, boundary):
    platform.enable()
    with platform.precision("float64"):
        X = tokens()
        network = kernel_descent_transformer(2, STEP, exponential, softmax, boundary)
        found = np.asarray(network(jnp.asarray(X), LAYERS))[-1]
        # Three layers of sums of at most twelve terms below three: a few hundred roundings of numbers below ten.
        assert np.abs(found - literal(X, exponential, softmax, boundary)).max() <= 4000 * UNIT


def test_what_comes_later_is_not_seen():
    platform.enable()
    with platform.precision("float64"):
        X = tokens()
        changed = X.copy()
        changed[4:] += 1
        network = kernel_descent_transformer(2, STEP, 1, 1)
        once, again = (np.asarray(network(jnp.asarray(x), LAYERS))[:, :4] for x in (X, changed))
        assert np.array_equal(once, again)
