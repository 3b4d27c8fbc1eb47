"""Matrices A restricted to a subspace, seen through B: the largest and the smallest ||B A x||, and the Gram matrix."""

from __future__ import annotations

from enum import IntEnum

import equinox as eqx
import jax
import jax.numpy as jnp


class Adapted(IntEnum):
    """Ways in which B may depend on A."""

    FIXED, OFF, ONTO = range(3)


class SeenThrough(eqx.Module):
    """Matrices B A V, one for each copy of A, and the singular values of B."""

    products: jax.Array
    spectrum: jax.Array

    @property
    def squares(self):
        return (self.spectrum**2).sum()

    @property
    def effective_rank(self):
        return self.squares / self.spectrum.max() ** 2

    @property
    def participation(self):
        return self.squares**2 / (self.spectrum**4).sum()

    def gram(self):
        """V^T A^T B^T B A V over ||B||_F^2."""
        return jnp.einsum("cij,cik->cjk", self.products, self.products) / self.squares

    def ends(self):
        """The largest and the smallest ||B A x||/||B||_F over unit vectors x of the subspace, for each copy."""
        roots = jnp.sqrt(jnp.maximum(jnp.linalg.eigvalsh(self.gram()), 0))
        return roots[:, -1], roots[:, 0]


def frame(key, size, k):
    return jnp.linalg.qr(jax.random.normal(key, (size, k)))[0]


def seen_through(A, V, spectrum, adapted):
    """B A V for B = U diag(spectrum) with fixed U, or for the projection off the range of A V, or onto it."""
    Z = A @ V
    fixed = spectrum[:, None] * Z
    inside = jnp.linalg.qr(Z)[0]
    onto = inside @ (jnp.swapaxes(inside, 1, 2) @ Z)
    m, k = Z.shape[1:]
    rank = jax.lax.select_n(adapted, m, m - k, k)
    flat = jnp.where(jnp.arange(m) < rank, 1.0, 0.0)
    products = jax.lax.select_n(adapted, fixed, Z - onto, onto)
    return SeenThrough(products, jnp.where(adapted == Adapted.FIXED, spectrum, flat))
