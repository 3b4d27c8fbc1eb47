"""Networks whose activations are recovered from the last one, and gradients with and without stored activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from sympy import Symbol, symbols

from theorax.language import Subject
from theorax.numerics.extents import Extent
from theorax.numerics.flows import largest
from theorax.numerics.keys import named
from theorax.theorems.resnet_discretizes_ode._residual import Euler, Heun, Scheme, last, last_without_storage

D = 5
SMOOTH, ROUGH, TIED = range(3)
TANH, LINEAR, RIPPLED = range(3)


class ActivatedLayer(eqx.Module):
    """f(W, x) = phi(W x), phi(z) one of tanh z, z, and tanh z + sin(N z)/N, whose second derivative grows with N."""

    activation: Array
    N: Array

    def __call__(self, W: Array, x: Array) -> Array:
        z = W @ x
        return jax.lax.select_n(self.activation, jnp.tanh(z), z, jnp.tanh(z) + jnp.sin(self.N * z) / self.N)


class SchemeNetwork(eqx.Module):
    """A scheme, its weights, an input, a target, the step 1/N, or N^power/N, and the share of L that is told."""

    scheme: Scheme
    weights: Float[Array, "N d d"]
    start: Float[Array, " d"]
    target: Float[Array, " d"]
    power: Array
    told: Array

    def step(self, N: Extent) -> Array:
        """The step h."""
        return (N.value * jnp.ones(())) ** (self.power - 1)

    @property
    def lipschitz(self) -> Array:
        """The number that is told to be a Lipschitz constant of all layers."""
        return self.told * jnp.max(jnp.linalg.norm(self.weights, 2, axis=(1, 2)))


def _network(key: Array, N: Extent, scheme: Any, weights: Array, scale: Array, power: Array, told: Array) -> Any:
    """Weights that turn smoothly with depth, a common matrix plus iid ones, or one small multiple of the identity."""
    A, B = (jax.random.normal(named(key, name), (D, D)) / D**0.5 for name in ("A", "B"))
    iid = jax.vmap(lambda n: jax.random.normal(named(key, "layer", n), (D, D)))(jnp.arange(N.padded)) / D**0.5
    s = jnp.arange(N.padded)[:, None, None] / N.value
    tied = jnp.broadcast_to(jnp.eye(D) / 10, iid.shape)
    W = jax.lax.select_n(weights, jnp.cos(s) * A + jnp.sin(s) * B, A / 2 + iid, tied) * scale
    start, target = (jax.random.normal(named(key, name), (D,)) for name in ("start", "target"))
    return SchemeNetwork(scheme, jnp.where(N.mask[:, None, None], W, 0), start, target, power, told)


def euler(
    key: Array, N: Extent, weights: Array, scale: Array, activation: Array, power: Array, told: Array
) -> SchemeNetwork:
    """A network of Euler steps."""
    return _network(key, N, Euler(ActivatedLayer(activation, N.value * jnp.ones(()))), weights, scale, power, told)


def heun(
    key: Array, N: Extent, weights: Array, scale: Array, activation: Array, power: Array, swapped: Array
) -> SchemeNetwork:
    """A network of Heun steps."""
    return _network(
        key, N, Heun(ActivatedLayer(activation, N.value * jnp.ones(())), swapped), weights, scale, power, jnp.ones(())
    )


EULER = Subject(euler, weights=SMOOTH, scale=1.0, activation=TANH, power=0.0, told=1.0)
HEUN = Subject(heun, weights=SMOOTH, scale=1.0, activation=TANH, power=0.0, swapped=0.0)


def neuron(scheme: Scheme) -> Callable[..., Any]:
    """Builds one neuron under this scheme: the scheme, Gaussian weights, a Gaussian input."""

    def build(key: Array, N: Extent) -> tuple[Scheme, Array, Array]:
        return scheme, jax.random.normal(named(key, "a"), (N.padded,)), jax.random.normal(named(key, "x"))

    return build


def linear(a: Any, x: Any) -> Any:
    """The residual function of a linear neuron."""
    return a * x


def of_symbols(scheme: Scheme, depth: int) -> tuple[Scheme, np.ndarray, np.ndarray]:
    """A neuron of symbols: scheme, weights, input."""
    return scheme, np.array(symbols(f"a_0:{depth}"), dtype=object), np.array(Symbol("x"), dtype=object)


def gradients(net: SchemeNetwork, N: Extent) -> tuple[Array, Array]:
    """Gradients of |x_N - y|^2/2 by the weights: by automatic differentiation of the whole network, and by recovery."""
    h = net.step(N)

    def loss(weights: Array, forwards: Any) -> Array:
        return jnp.sum((forwards(weights) - net.target) ** 2) / 2

    stored = jax.grad(loss)(net.weights, lambda weights: last(net.scheme, weights, net.start, N, h))
    recovered = jax.grad(loss)(
        net.weights, lambda weights: last_without_storage((weights, net.start), net.scheme, N, h)
    )
    return stored, recovered


def errors(net: SchemeNetwork, N: Extent) -> dict[str, Array]:
    """The error of the recovered gradient: of its worst layer, and of the whole relative to the gradient."""
    stored, recovered = gradients(net, N)
    return dict(layer=largest(recovered - stored), whole=jnp.linalg.norm(recovered - stored) / jnp.linalg.norm(stored))
