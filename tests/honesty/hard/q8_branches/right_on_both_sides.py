"""Identities of programs with branches that are right on both sides of each comparison."""

import jax
import jax.numpy as jnp
import numpy as np

from theorax import exact

AT = (np.linspace(0.3, 1.1, 3),)


def clipped_parts(seed):
    return exact.identity(lambda x: jnp.clip(x, -2, 2), lambda x: jnp.maximum(jnp.minimum(x, 2), -2), AT)


def stable_softplus(seed):
    return exact.identity(
        lambda x: jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x))), lambda x: jnp.log(1 + jnp.exp(x)), AT
    )


def two_sigmoids(seed):
    both = lambda x: jnp.where(x > 5, 1 / (1 + jnp.exp(-x)), jnp.exp(x) / (1 + jnp.exp(x)))  # noqa: E731
    return exact.identity(both, jax.nn.sigmoid, AT)


def absolute_value(seed):
    return exact.identity(lambda x: jnp.where(x < 0, -x, x), jnp.abs, AT)


def relu_of_minus(seed):
    return exact.identity(lambda x: jax.nn.relu(x) - jax.nn.relu(-x), lambda x: 1 * x, AT)


def median_of_three(seed):
    def by_parts(x):
        a, b, c = x
        return jnp.maximum(jnp.minimum(a, b), jnp.minimum(jnp.maximum(a, b), c))

    return exact.identity(by_parts, lambda x: jnp.sum(x) - jnp.max(x) - jnp.min(x), AT)


def shifted_branch(seed):
    return exact.identity(lambda x: jnp.where(x > 100, x + 3, x - 3 + 6), lambda x: x + 3, AT)


def hard_tanh(seed):
    one = lambda x: (jnp.abs(x + 1) - jnp.abs(x - 1)) / 2  # noqa: E731
    return exact.identity(one, lambda x: jnp.clip(x, -1, 1), AT)
