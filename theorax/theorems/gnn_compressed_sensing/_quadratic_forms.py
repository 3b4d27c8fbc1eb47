"""Quadratic forms and weighted sums of squares of sparse signs."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp

from theorax.numerics.keys import named


class QuadraticForm(eqx.Module):
    """Symmetric A, and vectors X as rows."""

    A: jax.Array
    X: jax.Array

    def __call__(self):
        return jnp.einsum("ri,ij,rj->r", self.X, self.A, self.X)


def entries(key, shape, p, normal, tied, size):
    """Sparse signs; ``normal``: normal entries, ``tied``: a number of entries that are one, ``size``: a factor of X."""
    X = (
        jax.random.rademacher(named(key, "signs"), shape)
        * jax.random.bernoulli(named(key, "kept"), p, shape)
        / jnp.sqrt(p)
    )
    X = jnp.where(normal > 0, jax.random.normal(named(key, "normal"), shape), X)
    return size * X[:, (jnp.arange(shape[1]) // tied).astype(int)]


def quadratic(key, m, p, normal, tied, size):
    G = jax.random.normal(named(key, "A"), (m, m)) + 2 * jnp.diag(jax.random.normal(named(key, "diagonal"), (m,)))
    return QuadraticForm((G + G.T) / 2, entries(key, (64, m), p, normal, tied, size))


def weighted_sum(key, m, p, normal, tied, size):
    """Weights between 1/2 and one in modulus, half of them negative: tau is small, and the first term decides."""
    a = jax.random.uniform(named(key, "a"), (m,), minval=0.5) * jnp.where(2 * jnp.arange(m) < m, 1, -1)
    return a, entries(key, (1, m), p, normal, tied, size)[0]
