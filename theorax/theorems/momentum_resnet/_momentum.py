r"""Residual networks with momentum: $v_{n+1} = g v_n + (1-g) h f_n(x_n)$, $x_{n+1} = x_n + v_{n+1}$, and their exact inverse.

A stack of weights shorter than the depth repeats its last ones, so that a stack of one is a network of tied layers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped

from theorax.language import Parameter, Size
from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named

N = Size("N", "depth")
g = Parameter("g", "momentum, between zero and one", positive=True)
d = Parameter("d", "dimension of the activations", integer=True, positive=True)

State: TypeAlias = tuple[Any, Any]  # position and velocity


class MomentumNetwork(eqx.Module):
    """Layers f(theta_n, x) with momentum g; ``h`` multiplies every residual (1, or 1/N).

    One layer runs on arrays and, in a proof, on symbols.
    """

    function: Callable[[Any, Any], Any]
    weights: Shaped[Array | np.ndarray, " layers *theta"]
    g: Scalar
    h: Scalar = 1.0

    def residual(self, n: Any, x: Any) -> Any:
        """The residual of the n-th layer, n from zero on."""
        return self.h * self.function(self.weights[jnp.minimum(n, len(self.weights) - 1)], x)

    def forwards(self, n: Any, state: State) -> State:
        """The state after the n-th layer."""
        x, v = state
        v = self.g * v + (1 - self.g) * self.residual(n, x)
        return x + v, v

    def backwards(self, n: Any, state: State) -> State:
        """The state before the n-th layer, in closed form."""
        x, v = state
        x = x - v
        return x, (v - (1 - self.g) * self.residual(n, x)) / self.g


@runtime_checkable
class InvertibleLayers(Protocol):
    """Layers that are run both ways."""

    def forwards(self, layer: Any, state: Any, /) -> Any:
        """The state after this layer."""

    def backwards(self, layer: Any, state: Any, /) -> Any:
        """The state before it."""


def through(net: InvertibleLayers, state: Any, N: Extent) -> Any:
    """The state after N layers."""

    def layer(n: Any, state: Any) -> Any:  # a bound method of a module with arrays is not hashable
        return net.forwards(n, state)

    return jax.lax.fori_loop(0, N.value, layer, state)


def back_through(net: InvertibleLayers, state: Any, N: Extent) -> Any:
    """The state before N layers, recovered from the one after them."""
    return jax.lax.fori_loop(0, N.value, lambda k, state: net.backwards(N.value - 1 - k, state), state)


def states(net: MomentumNetwork, state: State, N: Extent) -> tuple[Array, Array]:
    """Positions x_0, ..., x_N and velocities v_0, ..., v_N; zero beyond the depth."""
    empty = jax.tree.map(lambda part: jnp.zeros((N.padded + 1, *part.shape), part.dtype).at[0].set(part), state)

    def layer(n: Any, carry: tuple[State, State]) -> tuple[State, State]:
        state, nodes = carry
        state = net.forwards(n, state)
        return state, jax.tree.map(lambda nodes, part: nodes.at[n + 1].set(part), nodes, state)

    return jax.lax.fori_loop(0, N.value, layer, (state, empty))[1]


def tanh_layer(W: Any, x: Any) -> Any:
    """The residual function tanh(W x)."""
    return jnp.tanh(W @ x)


def gaussian_weights(key: Array, layers: int, d: int, gain: Scalar = 1.0) -> Float[Array, "layers d d"]:
    """Independent Gaussian matrices, of standard deviation gain/sqrt(d)."""
    draw = jax.vmap(lambda n: jax.random.normal(named(key, "layer", n), (d, d)))
    return draw(jnp.arange(layers)) * gain / d**0.5


def gaussian_state(key: Array, d: int) -> tuple[Float[Array, " d"], Float[Array, " d"]]:
    """A Gaussian position and a Gaussian velocity."""
    return jax.random.normal(named(key, "x"), (d,)), jax.random.normal(named(key, "v"), (d,))
