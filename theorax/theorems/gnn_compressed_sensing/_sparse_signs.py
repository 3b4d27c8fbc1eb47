"""Rows of sparse signs at vectors of the canonical basis, and the exact law of the norm they give."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp

from theorax.numerics.keys import named
from theorax.theorems.gnn_compressed_sensing._psi2 import FiniteLaw


class SparseRows(eqx.Module):
    """A, B and D as diagonals, and vectors x as columns."""

    A: jax.Array
    B: jax.Array
    D: jax.Array
    x: jax.Array

    def __call__(self):
        return self.B[:, None] * (self.A @ self.x)


COLUMNS = 16


def sparse_rows(key, m, p, normal, tied, flat, halved):
    """``tied``: one row for all. ``flat``: x = (1, 1, 0, ...)/sqrt 2. ``halved``: B is sqrt 2 or zero, by turns."""
    kept = jax.random.bernoulli(named(key, "kept"), p, (m, COLUMNS))
    A = jax.random.rademacher(named(key, "signs"), (m, COLUMNS)) * kept / jnp.sqrt(p)
    A = jnp.where(normal > 0, jax.random.normal(named(key, "normal"), (m, COLUMNS)), A)
    B = jnp.where(halved > 0, jnp.where(jnp.arange(m) % 2 == 0, 2.0**0.5, 0.0), 1.0)
    x = jnp.where(flat > 0, (jnp.eye(COLUMNS) + jnp.roll(jnp.eye(COLUMNS), 1, axis=0)) / 2.0**0.5, jnp.eye(COLUMNS))
    D = jnp.exp(jax.random.normal(named(key, "D"), (m,)) / 2)
    return SparseRows(jnp.where(tied > 0, A[0], A), B, D, x)


class BinomialColumn(eqx.Module):
    """The number k of non-zero entries of a column: p, m p, and the probabilities around the centre."""

    p: jax.Array
    mean: jax.Array
    k: jax.Array

    def weights(self):
        """From the ratios (m - k) p/((k + 1)(1 - p)) of neighbours; none is formed from a difference of large numbers."""
        ratio = jnp.log((self.mean - self.k * self.p) / ((self.k + 1) * (1 - self.p)))
        logs = jnp.concatenate([jnp.zeros(1), jnp.cumsum(ratio[:-1])])
        found = jnp.exp(logs - logs.max())
        return found / found.sum()

    def entry(self):
        return FiniteLaw(jnp.array([0.0, 1.0]) / self.p, jnp.stack([1 - self.p, self.p]))


def rare_column(key, n, floored, few):
    """m p = 64 n. ``floored``: p stays at e^(-4). ``few``: m p = 1."""
    mean = jnp.where(few > 0, 1.0, 64.0 * n)
    # Twelve deviations to each side; what is beyond has a probability below 10^(-30).
    reach = round(12 * (64 * n) ** 0.5)
    first = jnp.where(few > 0, 0.0, max(64.0 * n - reach, 0.0))
    return BinomialColumn(jnp.exp(-jnp.where(floored > 0, 4.0, 1.0 * n)), mean, first + jnp.arange(2.0 * reach))
