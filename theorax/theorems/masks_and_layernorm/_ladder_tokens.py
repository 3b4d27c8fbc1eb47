"""Tokens that stand still under LayerNorm: each is the one before it shifted to the left, times -1/w, and c e_d."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorax.numerics.annotations import Entries, Scalar
from theorax.numerics.keys import named
from theorax.theorems.masks_and_layernorm._masked_attention import CAUSAL, COMPLETE, MaskedLayer, masks_of, unit_rows

TOKENS = 6  # of a continued ladder


class Ladder(eqx.Module):
    """A causal layer with values I + w S, signs of the c_k, and what a control does to the tokens."""

    layer: MaskedLayer
    signs: Entries[Any, " d"]
    right: Any = 0  # one shifts tokens to the right
    other: Any = 0  # one takes other tokens for the further ones

    def tokens(self, w: Any, c: Any) -> Any:
        """The tokens x_1, x_2, ..., one for each sign."""
        d = len(self.signs)
        last, left, right = np.eye(d, dtype=int)[d - 1], np.eye(d, k=-1, dtype=int), np.eye(d, k=1, dtype=int)
        rows = [self.signs[0] * self.signs[0] * last]
        for sign in self.signs[1:]:
            rows.append(-(rows[-1] @ (left * (1 - self.right) + right * self.right)) / w + sign * c * last)
        return jnp.stack(rows)

    def continued(self, w: Scalar, k: Scalar) -> Float[Array, "tokens d"]:
        """The first k tokens, and further ones that stand still in their span: S W (m + 1 - W)^(-1) of length one."""
        X, W, rows = self.tokens(w, jnp.sqrt(1 - 1 / w**2)), self.layer.W_V, []
        d = len(self.signs)
        total = jnp.zeros(d)
        for place in range(TOKENS):
            asked = self._of_length_one(W, total)
            apart = unit_rows(jnp.cos((place + 1.0) * jnp.arange(1.0, d + 1.0))[None])[0]
            further = jnp.where(self.other == 1, apart, asked)
            rows.append(jnp.where(place < k, X[min(place, d - 1)], further))
            total = total + rows[-1]
        return jnp.stack(rows)

    def _of_length_one(self, W: Array, total: Array) -> Array:
        def token(m: Any) -> Array:
            return jnp.linalg.solve((m + 1) * jnp.eye(len(W)) - W.T, total @ W)

        def halve(_: Any, ends: tuple[Array, Array]) -> tuple[Array, Array]:
            middle = (ends[0] + ends[1]) / 2
            long = (token(middle) ** 2).sum() > 1
            return jnp.where(long, middle, ends[0]), jnp.where(long, ends[1], middle)

        return token(jax.lax.fori_loop(0, 60, halve, (jnp.asarray(0.01), jnp.asarray(100.0)))[0])


def any_signs(
    key: Array, d: int, w: Scalar, mask: Any, scores: Any, layernorm: Any, transposed: Any, right: Any, other: Any
) -> Ladder:
    """A ladder of d tokens, its signs drawn."""
    signs = jax.random.rademacher(named(key, "signs"), (d,)).astype(float)
    return Ladder(_layer(d, d, w, mask, scores, layernorm, transposed), signs, right, other)


def with_signs(
    key: Array, w: Scalar, e_2: Scalar, e_3: Scalar, mask: Any, scores: Any, layernorm: Any, transposed: Any
) -> Ladder:
    """A ladder of three tokens with these signs."""
    signs = jnp.stack([jnp.ones(()), jnp.asarray(e_2, float), jnp.asarray(e_3, float)])
    return Ladder(_layer(3, 3, w, mask, scores, layernorm, transposed), signs)


def alternating(
    key: Array, d: int, w: Scalar, mask: Any, scores: Any, layernorm: Any, transposed: Any, other: Any
) -> Ladder:
    """A ladder of d signs that alternate, in a layer for further tokens."""
    return Ladder(_layer(TOKENS, d, w, mask, scores, layernorm, transposed), (-1.0) ** jnp.arange(d), 0, other)


def _layer(N: int, d: int, w: Scalar, mask: Any, scores: Any, layernorm: Any, transposed: Any) -> MaskedLayer:
    masks = masks_of((CAUSAL, COMPLETE), N)
    W = jnp.eye(d) + w * jnp.eye(d, k=1)
    W = jnp.where(transposed == 1, W.T, W)
    return MaskedLayer(scores * jnp.eye(d), jnp.eye(d), W, masks[mask], layernorm)
