"""Networks taken literally: attention of given weights or of keys and queries, on drawn tokens and on symbols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from sympy import Symbol

from theorax.numerics.annotations import Entries, Scalar
from theorax.numerics.distributions import LogNormal, UnitExponential
from theorax.numerics.ensembles import gaussian, haar_rows
from theorax.numerics.extents import Extent, block, literal
from theorax.numerics.keys import named
from theorax.theorems.mind_the_gap._attention import Attention, AttentionNet, KeyQueryAttention, value_matrix


class Weighted(Attention):
    """Weights over their row sums, divided where the matrix is used: its rows sum to one in every arithmetic.

    ``empty`` is added to every row sum, as in a softmax with one more, empty, token; ``columns``: over column sums.
    """

    weights: Entries[Any, "N N"]
    empty: Scalar = 0.0
    columns: Scalar = 0

    def __call__(self, X: Float[Array, "N D"] | None, T: Extent) -> Float[Array, "N N"]:
        """The matrix, whatever the tokens."""
        kept = jnp.where(block(T, T), self.weights, 0)
        rows = jnp.where(T.mask, kept.sum(1) + self.empty, 1)[:, None]
        return kept / jnp.where(self.columns, jnp.where(T.mask, kept.sum(0), 1)[None, :], rows)


def generic(name: str, rows: int, columns: int) -> Any:
    """A matrix of symbols, to run a program on."""
    return np.array([[Symbol(f"{name}_{i}{j}") for j in range(columns)] for i in range(rows)], dtype=object)


def rows_summing_to_one(name: str, order: int) -> Any:
    """A row-stochastic matrix of symbols: the last entry of each row is one less the others."""
    free = generic(name, order, order - 1)
    return np.column_stack([free, 1 - free.sum(1)])


def symbolic(T: int, d: int, attentions: Sequence[str], values: Sequence[str]) -> tuple[Any, AttentionNet]:
    """Tokens of symbols, and on them a network of attention matrices with rows of sum one and values of these names."""
    matrices = tuple(Weighted(rows_summing_to_one(name, T)) for name in attentions)
    network = AttentionNet(matrices, tuple(generic(name, d, d) for name in values), literal(T), literal(d))
    return generic("x", T, d), network


def literal_network(
    key: Any,
    T: Extent,
    d: Extent,
    L: int,
    independent: Callable[[Any], Attention],
    dependent: Any,
    sigma: float | str = 1.0,
    removed: Any = 0.0,
) -> tuple[Float[Array, "N D"], AttentionNet]:
    """Isometric tokens and a network on them: attention of ``independent`` or, ``dependent``, of keys and queries."""

    def attention(layer: int) -> Attention:
        if dependent:
            queries, keys = (gaussian(named(key, name, layer), d, d) for name in ("queries", "keys"))
            return KeyQueryAttention(queries, keys, d)
        return independent(named(key, "attention", layer))

    layers = range(1, L + 1)
    values = tuple(value_matrix(named(key, "values", layer), d, "gaussian", sigma) for layer in layers)
    return haar_rows(named(key, "tokens"), T, d), AttentionNet(tuple(map(attention, layers)), values, T, d, removed)


def drawn_weights(key: Any, T: Extent, log_normal: Scalar, empty: Scalar, columns: Scalar) -> Weighted:
    """Exponential or log-normal weights over their row sums; the options are those of `Weighted`."""
    shape = (T.padded, T.padded)
    menu = LogNormal(1.0).sample(named(key, "log-normal"), shape), UnitExponential().sample(key, shape)
    return Weighted(jnp.where(log_normal, *menu), empty, columns)
