"""Heads, the code of every pair of tokens, and the networks that codes generate: the setting of this paper.

Scores s_hqk = (W_h^Q x_q).(W_h^K x_k)/sqrt(d_k) are normalised to a_hqk; the code of the pair (q, k) is z_qk = (a_1qk, ...,
a_Hqk). The heads have the matrices M_h = W_h^O W_h^V.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorax.language import Efforts, Size, generic_entries
from theorax.numerics.annotations import Entries, Scalar
from theorax.numerics.keys import named

T = Size("T", "number of tokens")
h = Size("h", "number of heads")
D = Size("D", "dimension of the tokens")
DRAWS = Efforts(2, 4, 12)
TOKENS: dict[Size, Efforts[tuple[int, ...]]] = {T: Efforts((4,), (4,), (4, 6))}
KEY_WIDTH = 4  # its root is exact
VALUE_WIDTH = 2


class ScoreNormalisation(IntEnum):
    """Normalisations of scores: over the keys, over the keys up to the query, none, or by the root mean square of the heads."""

    SOFTMAX, CAUSAL, PLAIN, HEADS = range(4)


SOFTMAX, CAUSAL, PLAIN, HEADS = ScoreNormalisation


def over_keys(scores: Float[Array, "h q k"], causal: bool = False) -> Float[Array, "h q k"]:
    """Softmax over all keys, or over those up to the query."""
    weights = jnp.exp(scores) * (jnp.tril(jnp.ones(scores.shape[1:])) if causal else 1)
    return weights / weights.sum(2, keepdims=True)


def over_heads(scores: Float[Array, "h q k"], floor: Scalar = 0.0) -> Float[Array, "h q k"]:
    """Scores over the root of their mean square over the heads, to which ``floor`` is added."""
    return scores / jnp.sqrt((scores**2).sum(0) / len(scores) + floor)


def normalised(scores: Float[Array, "h q k"], kind: Scalar) -> Float[Array, "h q k"]:
    """Codes of the normalisation with the number ``kind``."""
    kind, menu = jnp.asarray(kind), (over_keys(scores), over_keys(scores, causal=True), scores, over_heads(scores))
    return jnp.where(kind == SOFTMAX, menu[0], jnp.where(kind == CAUSAL, menu[1], jnp.where(kind == PLAIN, *menu[2:])))


def relu(u: Array) -> Array:
    """max(u, 0), without a question about the sign of u: exact in floating point, and symbols can pass."""
    return (u + jnp.abs(u)) / 2


class HeadScores(eqx.Module):
    """The weights of queries and keys."""

    W_Q: Entries[Any, "h k D"]
    W_K: Entries[Any, "h k D"]

    def __call__(self, X: Float[Array, "T D"]) -> Float[Array, "h T T"]:
        """s_hqk."""
        queries, keys = (jnp.einsum("hkd,td->htk", W, X) for W in (self.W_Q, self.W_K))
        return jnp.einsum("hqk,htk->hqt", queries, keys) / jnp.sqrt(self.W_Q.shape[1])


class CodedHeads(eqx.Module):
    """Values and output projections of the heads, which codes mix.

    ``rectified``: a ReLU before the output projection, as in no attention.
    """

    W_V: Entries[Any, "h v D"]
    W_O: Entries[Any, "h D v"]
    b_V: Entries[Any, "h v"]
    b_O: Entries[Any, " D"]
    rectified: bool = eqx.field(static=True, default=False)

    @property
    def matrices(self) -> Float[Array, "h D D"]:
        """M_h = W_h^O W_h^V."""
        return jnp.einsum("hdv,hve->hde", self.W_O, self.W_V)

    @property
    def shifts(self) -> Float[Array, "h D"]:
        """W_h^O b_h^V."""
        return jnp.einsum("hdv,hv->hd", self.W_O, self.b_V)

    def __call__(self, codes: Float[Array, "h q T"], X: Float[Array, "T D"]) -> Float[Array, "q D"]:
        """Multi-head attention as it is computed: W^O times the concatenated outputs of the heads, and b^O."""
        values = jnp.einsum("hvd,kd->hkv", self.W_V, X) + self.b_V[:, None, :]
        found = jnp.einsum("hqk,hkv->qhv", codes, values)
        found = relu(found) if self.rectified else found
        projection = jnp.moveaxis(self.W_O, 0, 1).reshape(self.W_O.shape[1], -1)
        return found.reshape(len(found), -1) @ projection.T + self.b_O


def generated(layer: CodedHeads, codes: Float[Array, "h q T"]) -> Float[Array, "q T D D"]:
    """W_qk = sum_h a_hqk M_h."""
    return jnp.einsum("hqk,hde->qkde", codes, layer.matrices)


def hyla(
    layer: CodedHeads,
    codes: Float[Array, "h q T"],
    X: Float[Array, "T D"],
    phi: Callable[[Array], Array],
    twice: Scalar = 1,
) -> Float[Array, "q D"]:
    """sum_k (sum_h a_hqk W_h^O) phi(sum_h a_hqk W_h^V x_k), without biases.

    ``twice`` = 0: the outputs are summed without the code.
    """
    inner = jnp.einsum("hqk,hkv->qkv", codes, jnp.einsum("hvd,kd->hkv", layer.W_V, X))
    outer = jnp.einsum("hqk,hdv->qkdv", codes * twice + (1 - twice), layer.W_O)
    return jnp.einsum("qkdv,qkv->qd", outer, phi(inner))


def determinant(A: Float[Array, "*batch n n"]) -> Float[Array, "*batch"]:
    """Determinants by expansion along the first row: for small orders, and for symbols."""
    if A.shape[-1] == 1:
        return A[..., 0, 0]
    below, total = A[..., 1:, :], jnp.zeros((), A.dtype)
    for j in range(A.shape[-1]):
        minor = jnp.concatenate([below[..., :j], below[..., j + 1 :]], axis=-1)
        total = total + (-1) ** j * A[..., 0, j] * determinant(minor)
    return total


def identity(u: Array) -> Array:
    """The map that leaves a generated network linear."""
    return u


def generic_layer(h: int, v: int, D: int) -> CodedHeads:
    """A layer of symbols, without biases."""
    return CodedHeads(generic_entries("V", h, v, D), generic_entries("O", h, D, v), np.zeros((h, v)), np.zeros(D))


def drawn_heads(key: Array, h: int, D: int, rectified: bool = False) -> CodedHeads:
    """Normal weights, of variance one over the width that they read."""
    normal = lambda name, *shape: jax.random.normal(named(key, name), shape)
    W_V, W_O = normal("values", h, VALUE_WIDTH, D) / D**0.5, normal("outputs", h, D, VALUE_WIDTH) / VALUE_WIDTH**0.5
    return CodedHeads(W_V, W_O, normal("b_V", h, VALUE_WIDTH), normal("b_O", D), rectified)


def drawn_scores(key: Array, h: int, D: int) -> HeadScores:
    """Normal weights, such that scores of normal tokens are of order one."""
    shape = (h, KEY_WIDTH, D)
    return HeadScores(*(jax.random.normal(named(key, name), shape) / D**0.5 for name in ("queries", "keys")))
