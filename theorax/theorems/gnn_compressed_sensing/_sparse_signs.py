"""Rows of sparse signs at vectors of the canonical basis, and the exact law of the norm they give."""

from __future__ import annotations

from enum import IntEnum

import equinox as eqx
import jax
import jax.numpy as jnp

from theorax.numerics.keys import named
from theorax.theorems.gnn_compressed_sensing._psi2 import FiniteLaw


def sparse_signs_of(normal, p):
    """Sparse signs from standard normal numbers: the signs of the largest, of which there is a share p, over sqrt(p)."""
    return jnp.sign(normal) * (jnp.abs(normal) > 2**0.5 * jax.scipy.special.erfinv(1 - p)) / jnp.sqrt(p)


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


class Column(IntEnum):
    """Laws of ||B A x|| with p = e^(-n): m p = 64 n independent signs, and others."""

    SIGNS, FLOORED, FEW, SINGLE, TIED, FIRST, SPREAD, TWO_SIZES = range(8)


class ColumnLaw(eqx.Module):
    """Values of sqrt(p) (||B A x|| - ||B||_F) and the roots of their probabilities; the law of one entry squared."""

    p: jax.Array
    apart: jax.Array
    roots: jax.Array
    entry: FiniteLaw

    def deviation(self):
        """Multiplied before they are squared, as large values have probabilities whose inverse has no float."""
        return jnp.linalg.norm(self.roots * self.apart)


def binomial_column(p, mean, k):
    """sqrt(k) about sqrt(mean), from the ratios (m - k) p/((k + 1)(1 - p)) of neighbours; nothing cancels."""
    ratio = jnp.log((mean - k * p) / ((k + 1) * (1 - p)))
    logs = jnp.concatenate([jnp.zeros(1), jnp.cumsum(ratio[:-1])])
    found = jnp.exp(logs - logs.max())
    return jnp.sqrt(k) - jnp.sqrt(mean), jnp.sqrt(found / found.sum())


def rare_column(key, n, law):
    """One column of A, or what takes its place.

    ``law``: m p = 64 n signs; p stays at e^(-4); m p = 1; m = 1; one row for all, m p = 64 n e^(n/2); B = e_1 e_1^T;
    x spread so evenly that A x is normal; entries of squares 1/2 and 3/2. Of the last two only sd(||A x||) is used.
    """
    # Twelve deviations to each side; what is beyond has a probability below 10^(-30).
    reach = round(12 * (64 * n) ** 0.5)
    p = jnp.exp(-jnp.where(law == Column.FLOORED, 4.0, 1.0 * n))
    few = law == Column.FEW
    first = jnp.where(few, 0.0, max(64.0 * n - reach, 0.0))
    signs = binomial_column(p, jnp.where(few, 1.0, 64.0 * n), first + jnp.arange(2.0 * reach))
    root = jnp.sqrt(p)
    one = jnp.array([1 - root, -root]), jnp.array([root, jnp.sqrt(1 - p)])
    long = 8 * jnp.sqrt(1.0 * n) * jnp.exp(n / 4)  # sqrt(m p) of the tied rows
    tied = long * jnp.array([1 / root - 1, -1.0]), one[1]
    halves = jnp.full(2, 0.5**0.5)
    sides = jnp.array([1.0, -1.0])
    normal, narrow = (root * 0.5**0.5 * sides, halves), (root / 4 * sides, halves)

    laws = [signs, signs, signs, *(padded(values, 2 * reach) for values in (one, tied, one, normal, narrow))]
    apart, roots = (jax.lax.select_n(law, *values) for values in zip(*laws, strict=True))
    two = law == Column.TWO_SIZES
    squares = jnp.where(two, jnp.array([0.5, 1.5]), jnp.array([0.0, 1.0]) / p)
    return ColumnLaw(p, apart, roots, FiniteLaw(squares, jnp.where(two, 0.5, jnp.stack([1 - p, p]))))


def padded(two, size):
    return tuple(jnp.zeros(size).at[:2].set(values) for values in two)
