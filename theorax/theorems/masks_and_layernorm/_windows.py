"""Layers of local masks: a causal window, a window on both sides; their tokens, and the second eigenvector."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from theorax.numerics.annotations import Entries
from theorax.numerics.keys import named
from theorax.theorems.masks_and_layernorm._masked_attention import CAUSAL, CAUSAL_WINDOW, WINDOW, MaskedLayer, mask_of


class WindowedTokens(eqx.Module):
    """A layer that all depths share, the tokens at its input, and the vector v."""

    layer: MaskedLayer
    X: Entries[Any, "N d"]
    v: Entries[Any, " N"]


def second_vector(N, w):
    """v of N entries; for w = 2, where there is none, i - 1."""
    v: list[Any] = []
    for i in range(N):
        sums = sum((jnp.where(i - j < w, v[j], 0.0) for j in range(i)), jnp.zeros(()))
        v.append(jnp.where((i < w) | (w == 2), 1.0 * i, 2 * sums / jnp.maximum(w - 2, 1)))
    return jnp.stack(v)


def of_width(x, w, v, mask, scores):
    """Tokens x of dimension one, and the mask at this place of: causal window, causal, window on both sides."""
    N = len(x)
    kinds = (CAUSAL_WINDOW, w), (CAUSAL, w), (WINDOW, w - 1)
    masks = jnp.stack([jnp.asarray(mask_of(kind, N, width)) for kind, width in kinds])
    layer = MaskedLayer(scores * jnp.ones((1, 1)), jnp.ones((1, 1)), jnp.ones((1, 1)), masks[mask])
    return WindowedTokens(layer, x[:, None], v)


def starts(N):
    """A step behind the first token, cosines, two first tokens alike."""
    i = jnp.arange(1.0 * N)
    waves = jnp.where(i < 2, i, jnp.cos(i**2))
    return jnp.stack([jnp.where(i > 0, 1.0, 0.0), waves, jnp.where(i < 2, 0.0, waves)])


def causal_window(key, N, w, mask, scores, start):
    """``start``: the place of the tokens in `starts`."""
    return of_width(starts(N)[start], w, second_vector(N, w), mask, scores)


def random_tokens(key, N, w, mask, scores):
    """Normal tokens."""
    return of_width(jax.random.normal(named(key, "tokens"), (N,)), w, second_vector(N, w), mask, scores)


def both_sides(key, N, k, mask, scores):
    """A window of reach k on both sides, at cosines."""
    return of_width(starts(N)[1], k + 1, jnp.zeros(N), mask, scores)
