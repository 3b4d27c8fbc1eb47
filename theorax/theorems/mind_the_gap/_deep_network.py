"""The network without its outlier, multiplied out over tens of layers at a fixed context length and width."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.ensembles import markov
from theorax.numerics.extents import Extent, block
from theorax.numerics.keys import named
from theorax.theorems.mind_the_gap._attention import mean_token_removed

CHUNK = 20  # layers whose random numbers are drawn at once


def deep_network(
    key: Any,
    T: Extent,
    d: Extent,
    L: Extent,
    weights: Array,
    popular: Array,
    removed: Array,
    gaussian_values: Array,
    skip: Array,
) -> Float[Array, "N M"]:
    """Y_L over its norm, the network multiplied out; divided by its norm in between, which no ratio sees.

    ``weights`` the law, exponential, uniform or Pareto's of tail 1/8; ``popular`` weights of every other column larger, the
    others smaller, by this share; ``removed`` the share of J; ``gaussian_values`` or identities; ``skip`` the share of
    Y_(l-1) that is added to the new tokens.
    """
    columns = 1 + popular * jnp.where(jnp.arange(T.padded) % 2 == 0, 1, -1)
    deviation, entries = 1 / jnp.sqrt(jnp.asarray(d.value, columns.dtype)), T.padded**2

    def layers(index: Array, Y: Array) -> Array:
        # All from one uniform variable in (-1, 1) each: a second call of the generator takes as long to compile.
        draw = named(key, "layers", index)
        u = jax.random.uniform(draw, (CHUNK, entries + d.padded**2), minval=jnp.nextafter(-1.0, 0.0))
        E = -jnp.log((1 + u[:, :entries]) / 2).reshape(CHUNK, T.padded, T.padded)
        Z = jax.lax.select_n(weights, E, -jnp.expm1(-E), jnp.exp(8 * E))
        A = jax.vmap(lambda one: mean_token_removed(markov(one * columns, T), T, removed))(Z)
        W = deviation * math.sqrt(2) * jax.lax.erf_inv(u[:, entries:]).reshape(CHUNK, d.padded, d.padded)
        W = jnp.where(gaussian_values, jnp.where(block(d, d), W, 0), jnp.eye(d.padded))

        def layer(place: Array, Y: Array) -> Array:
            return jnp.where(index * CHUNK + place < L.value, skip * Y + A[place] @ Y @ W[place], Y)

        Y = jax.lax.fori_loop(0, CHUNK, layer, Y)
        return Y / jnp.linalg.norm(Y)

    start = jnp.where(block(T, d), jnp.eye(T.padded, d.padded), 0)
    return jax.lax.fori_loop(0, (L.value + CHUNK - 1) // CHUNK, layers, start)
