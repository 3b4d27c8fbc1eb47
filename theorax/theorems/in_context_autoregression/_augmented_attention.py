"""Linear attention on augmented tokens (0, s_t, s_(t-1)): the layer that does a gradient step in its context."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorax.theorems.in_context_autoregression._complex_arrays import ComplexArray


class LinearAttention(eqx.Module):
    """One head of linear attention without normalisation on a residual stream: real weights, complex tokens."""

    queries: Float[Array, "k D"]
    keys: Float[Array, "k D"]
    values: Float[Array, "v D"]
    output: Float[Array, "D v"]

    def __call__(self, E: ComplexArray, mask: Array) -> ComplexArray:
        """The tokens after the layer; the weights are <k_s, q_t> within the mask."""
        of = lambda weight: E.each(lambda part: part @ weight.T)  # noqa: E731
        weights = (of(self.queries) @ of(self.keys).adjoint).each(lambda part: jnp.where(mask, part, 0))
        return E + (weights @ of(self.values)).each(lambda part: part @ self.output.T)


def gradient_step_attention(d: int, eta: Any, augmented: Any = 1.0) -> LinearAttention:
    """The weights that do a gradient step of size eta; ``augmented``: zero lets the keys be s_t, a control."""
    one, zero = np.eye(d), np.zeros((d, d))
    places = ((one, zero, zero), (zero, one, zero), (zero, zero, one))
    rows: list[Any] = [np.concatenate(blocks, axis=1) for blocks in places]
    out, here, before = rows
    return LinearAttention(here, augmented * before + (1 - augmented) * here, here, eta * out.T)


def augmented_tokens(S: ComplexArray, before: ComplexArray | None = None) -> ComplexArray:
    """(0, s_t, s_(t-1)) at every position; ``before`` stands in the place of s_0, which is zero."""

    def augmented(now: Array, zeroth: Array) -> Array:
        return jnp.concatenate([jnp.zeros_like(now), now, jnp.concatenate([zeroth[None], now[:-1]])], axis=1)

    zeroth = S[0].each(jnp.zeros_like) if before is None else before
    return ComplexArray(augmented(S.real, zeroth.real), augmented(S.imag, zeroth.imag))


def causal(length: int) -> Array:
    """The mask of causal attention."""
    return jnp.tril(jnp.ones((length, length), bool))


def predictions(layer: LinearAttention, S: ComplexArray) -> ComplexArray:
    """The predictions of the next token at every position: the first block of the residual stream."""
    length, d = S.real.shape
    return layer(augmented_tokens(S), causal(length))[:, :d]
