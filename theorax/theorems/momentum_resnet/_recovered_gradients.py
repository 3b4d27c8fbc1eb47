"""Gradients of momentum networks: the way back on recovered states, with its cotangents written out."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import Extent
from theorax.theorems.momentum_resnet._momentum import MomentumNetwork, State, through


def last_stored(net: MomentumNetwork, state: State, N: Extent) -> State:
    """The last state; automatic differentiation keeps the input of every layer."""

    def layer(state: State, n: Array) -> tuple[State, None]:
        return net.forwards(n, state), None

    return jax.lax.scan(layer, state, jnp.arange(N.padded))[0]


def swept_back(
    net: MomentumNetwork, end: State, cotangents: State, N: Extent, kept: Scalar, entering: Scalar
) -> tuple[Array, State]:
    r"""Gradients by the weights and by the first state, from the last state and the cotangents there.

    With $s = p_x + p_v$ a layer back is $\nabla W_n = (1-g) (\partial_W f)^T s$, $p_x \leftarrow p_x + (1-g) (\partial_x f)^T
    s$, $p_v \leftarrow g s$. ``kept`` stands for the last g, ``entering`` for the 1 - g of the weights.
    """

    def layer(k: Any, carry: tuple[State, State, Array]) -> tuple[State, State, Array]:
        state, (to_x, to_v), gradient = carry
        n = N.padded - 1 - k
        place = jnp.minimum(n, len(net.weights) - 1)
        state = net.backwards(n, state)
        s = to_x + to_v
        _, pulled = jax.vjp(lambda W, x: net.h * net.function(W, x), net.weights[place], state[0])
        by_weights, by_x = pulled(s)
        gradient = gradient.at[place].add(entering * by_weights)
        return state, (to_x + (1 - net.g) * by_x, kept * s), gradient

    start = end, cotangents, jnp.zeros_like(net.weights)
    _, to_start, gradient = jax.lax.fori_loop(0, N.padded, layer, start)
    return gradient, to_start


@eqx.filter_custom_vjp
def last_recovered(weights: Array, net: MomentumNetwork, state: State, N: Extent) -> Array:
    """The last position; its gradient by the weights runs on recovered states."""
    return through(_with(net, weights), state, N)[0]


def _with(net: MomentumNetwork, weights: Array) -> MomentumNetwork:
    return eqx.tree_at(lambda net: net.weights, net, weights)


@last_recovered.def_fwd
def _forwards(perturbed: Any, weights: Array, net: MomentumNetwork, state: State, N: Extent) -> tuple[Array, State]:
    end = through(_with(net, weights), state, N)
    return end[0], end


@last_recovered.def_bwd
def _backwards(
    end: State, cotangent: Array, perturbed: Any, weights: Array, net: MomentumNetwork, state: State, N: Extent
) -> Array:
    cotangents = cotangent, jnp.zeros_like(cotangent)
    return swept_back(_with(net, weights), end, cotangents, N, net.g, 1 - net.g)[0]
