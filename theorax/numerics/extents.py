"""Sizes that a compiled program need not know: an array dimension, traced, inside a fixed padding.

One program per structure, not per size: a T x T matrix is the leading block of an N x N array that is zero elsewhere,
N = ``padded`` is fixed when the program is compiled and T = ``value`` is an argument of it. Zero rows and columns leave
products, Frobenius norms and non-zero singular values as they are.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool


class Extent(eqx.Module):
    """The length of a dimension: ``value`` rows are meant, ``padded`` rows are stored, the others are zero.

    A literal size is ``Extent(n, n)``; there the mask is all true.
    """

    value: int | Array
    padded: int = eqx.field(static=True)

    @property
    def mask(self) -> Bool[Array, " padded"]:
        """True on the rows that are meant."""
        return jnp.arange(self.padded) < self.value


def literal(size: int) -> Extent:
    """The dimension of an ordinary array with ``size`` rows."""
    return Extent(size, size)


def block(rows: Extent, columns: Extent) -> Bool[Array, "rows columns"]:
    """True on the leading ``rows x columns`` block that is meant."""
    return rows.mask[:, None] & columns.mask[None, :]
