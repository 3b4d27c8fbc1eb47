"""Linear attention on augmented tokens (0, s_t, s_(t-1)): the layer that does a gradient step in its context."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from theorax.numerics.annotations import Entries
from theorax.theorems.in_context_autoregression._complex_arrays import ComplexArray


class LinearAttention(eqx.Module):
    """One head of linear attention without normalisation on a residual stream: real weights, complex tokens."""

    queries: Entries[Any, "k D"]
    keys: Entries[Any, "k D"]
    values: Entries[Any, "v D"]
    output: Entries[Any, "D v"]

    def __call__(self, E: ComplexArray, mask: Array) -> ComplexArray:
        """The tokens after the layer; the weights are <k_s, q_t> within the mask."""
        of = lambda weight: E.each(lambda part: part @ weight.T)
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


def products(S: ComplexArray) -> list[ComplexArray]:
    """sum_t v <k, q> for each choice of token or token before in key, query and value; first the gradient step's."""
    before = S.each(lambda part: jnp.concatenate([0 * part[:1], part[:-1]]))
    choices = [(key, query, value) for key in (before, S) for query in (S, before) for value in (S, before)]
    return [((key.conj * query[-1:]).each(lambda part: part.sum(1, keepdims=True)) * value).each(lambda part: part.sum(0))
            for key, query, value in choices]


class TrainingContexts(eqx.Module):
    """Tokens of some contexts, and how the layer departs from the theorem's."""

    tokens: ComplexArray
    augmented: Array
    spread: Array
