"""Sets T seen through B A: the largest and the smallest ||B A x||, for normal entries of A and for sparse signs."""

from __future__ import annotations

import math
from enum import IntEnum

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from theorax.numerics.keys import named
from theorax.theorems.gnn_compressed_sensing._sparse_signs import sparse_signs_of
from theorax.theorems.gnn_compressed_sensing._subspaces import frame

COPIES, COLUMNS, PLANE = 2, 96, 2
RADIUS, TOP = 2.0, 8.0


class SetKind(IntEnum):
    """Choices of T, all of radius two."""

    POINT, BASIS, CIRCLE = range(3)


class SetSeen(eqx.Module):
    """Copies of M = B A, the singular values of B, and T: e_1, the canonical basis, or the circle in the range of V."""

    M: jax.Array
    spectrum: jax.Array
    V: jax.Array
    T: jax.Array

    @property
    def norm(self):
        return jnp.sqrt((self.spectrum**2).sum())

    def ends(self):
        """The largest and the smallest ||B A x||/||x||, for each copy."""
        columns = jnp.linalg.norm(self.M, axis=1)
        image = self.M @ self.V
        circle = jnp.sqrt(jnp.maximum(jnp.linalg.eigvalsh(jnp.swapaxes(image, 1, 2) @ image), 0))
        top = jax.lax.select_n(self.T, columns[:, 0], columns.max(1), circle[:, -1])
        return top, jax.lax.select_n(self.T, columns[:, 0], columns.min(1), circle[:, 0])

    def deviations(self, size):
        """The largest distance of ||B A x|| from ``size`` ||x||, for each copy."""
        top, bottom = self.ends()
        return RADIUS * jnp.maximum(top - size, size - bottom)

    def width(self):
        """Zero for a point; the mean of the largest normal number; the mean length of a normal vector in the plane."""
        return RADIUS * jax.lax.select_n(self.T, jnp.zeros(()), mean_of_largest(COLUMNS), jnp.sqrt(jnp.pi / 2))


def mean_of_largest(count):
    """Of ``count`` normal numbers: the integral of P(max > x) - P(max < -x), midpoints of steps 1/100 up to ten."""
    above = 1 - normal_tails()
    return float((1 - above**count - (1 - above) ** count).sum() / 100)


def normal_tails():
    return np.array([math.erfc((place + 0.5) / 100 / 2**0.5) / 2 for place in range(1000)])


def set_seen(key, m, T, density, falling, tied, size, common, adapted, sees):
    """B = 8 diag(i^(-falling)) R, R a reflection that takes (1, ..., 1)/sqrt(m) to e_1.

    ``density``: of signs in A, normal at zero. ``tied``: one row for all. ``size``: a factor of A. ``common``: mean of the
    first column of A, whose mean square stays one. ``adapted``: B projects off the range of A on the plane. ``sees``: the
    plane holds a row of B A.
    """
    A = jax.random.normal(named(key, "A"), (COPIES, m, COLUMNS))
    kept = jnp.where(density > 0, density, 1.0)
    A = jnp.where(density > 0, sparse_signs_of(A, kept), A)
    A = size * jnp.where(tied > 0, A[:, :1], A)
    A = jnp.where(jnp.arange(COLUMNS) == 0, common + jnp.sqrt(1 - common**2) * A, A)
    spectrum = TOP * (1.0 + jnp.arange(m)) ** -falling
    across = jnp.eye(m)[0] - 1 / jnp.sqrt(1.0 * m)
    turned = A - 2 * across[:, None] * (across @ A)[:, None] / (across @ across)
    M = spectrum[:, None] * turned
    drawn = jnp.broadcast_to(frame(named(key, "V"), COLUMNS, PLANE), (COPIES, COLUMNS, PLANE))
    V = jnp.linalg.qr(jnp.where((sees > 0) & (jnp.arange(PLANE) == 0), M[:, 0, :, None], drawn))[0]
    inside = jnp.linalg.qr(A @ V)[0]
    off = TOP * (A - inside @ (jnp.swapaxes(inside, 1, 2) @ A))
    flat = jnp.where(jnp.arange(m) < m - PLANE, TOP, 0.0)
    return SetSeen(jnp.where(adapted > 0, off, M), jnp.where(adapted > 0, flat, spectrum), V, T)


class SparseColumns(eqx.Module):
    """Copies of a matrix of sparse signs; T is the canonical basis."""

    A: jax.Array

    def deviations(self):
        lengths = jnp.linalg.norm(self.A, axis=1)
        return jnp.abs(lengths - jnp.sqrt(1.0 * self.A.shape[1])).max(1)


def sparse_columns(key, m, p, dense):
    """Sixteen columns. ``dense``: signs of size one, without zeros."""
    kept = jnp.where(dense > 0, 1.0, p)
    return SparseColumns(sparse_signs_of(jax.random.normal(named(key, "A"), (4, m, 16)), kept))
