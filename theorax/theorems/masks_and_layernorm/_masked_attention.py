"""Attention within a mask, with values and the scaling of rows to unit length, and the masks of the paper."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from theorax.numerics.annotations import Entries


class Mask(IntEnum):
    """Graphs of the paper: the tokens that a row attends to, itself among them."""

    COMPLETE, CAUSAL, STAR, WINDOW, CAUSAL_WINDOW, BLOCKS = range(6)


COMPLETE, CAUSAL, STAR, WINDOW, CAUSAL_WINDOW, BLOCKS = Mask


def mask_of(kind: Mask | int, N: int, width: int = 1) -> Bool[np.ndarray, "N N"]:
    """True where row i attends to token j.

    ``width``: of a window the reach |i - j| <= width, of a causal window its number of tokens, 0 <= i - j < width.
    """
    i, j = np.indices((N, N))
    graphs = {
        COMPLETE: i >= 0,
        CAUSAL: j <= i,
        STAR: (i == j) | (j == 0),
        WINDOW: abs(i - j) <= width,
        CAUSAL_WINDOW: (j <= i) & (i - j < width),
        BLOCKS: (2 * i < N) == (2 * j < N),
    }
    return graphs[Mask(kind)]


def masks_of(kinds: Iterable[Mask | int], N: int, width: int = 1) -> Bool[Array, "kinds N N"]:
    """Masks of several graphs, in this order: an option of a subject chooses one."""
    return jnp.stack([jnp.asarray(mask_of(kind, N, width)) for kind in kinds])


class MaskedLayer(eqx.Module):
    """x -> softmax over the mask of (x W_Q)(x W_K)^T / sqrt(d_qk), times x W_V; then, if wanted, rows of unit length.

    Layers of one shape may be stacked, for a scan over depth that hands them out one by one.
    """

    W_Q: Entries[Any, "*stack d k"]
    W_K: Entries[Any, "*stack d k"]
    W_V: Entries[Any, "*stack d d"]
    mask: Bool[Array | np.ndarray, "*stack N N"]
    layernorm: Any = 0

    def weights(self, X: Entries[Any, "N d"]) -> Float[Array, "N N"]:
        """The attention matrix at these tokens."""
        scores = (X @ self.W_Q) @ (X @ self.W_K).T / np.sqrt(self.W_Q.shape[1])
        scores = jnp.where(self.mask, scores, -jnp.inf)
        exponents = jnp.exp(scores - scores.max(1, keepdims=True))
        return exponents / exponents.sum(1, keepdims=True)

    def __call__(self, X: Entries[Any, "N d"]) -> Float[Array, "N d"]:
        """The tokens after the layer."""
        mixed = self.weights(X) @ X @ self.W_V
        return jnp.where(jnp.asarray(self.layernorm) == 1, unit_rows(mixed), mixed)


def unit_rows(X: Float[Array, "N d"]) -> Float[Array, "N d"]:
    """Rows divided by their Euclidean norm: LayerNorm without centring and without an affine part."""
    return X / jnp.sqrt((X * X).sum(1, keepdims=True))


def distance_from_mean(X: Float[Array, "N d"]) -> Float[Array, ""]:
    """The measure mu of collapse: the Frobenius norm of the tokens minus their mean."""
    return jnp.sqrt(((X - X.mean(0)) ** 2).sum())
