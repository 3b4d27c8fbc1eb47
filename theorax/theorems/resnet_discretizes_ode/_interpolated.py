"""Networks with rough weights, and the two flows that pass through their layers: weights or functions interpolated."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.language import Subject
from theorax.numerics import flows
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.resnet_discretizes_ode._residual import activations

D = 4
ALTERNATING, IID, SMOOTH = range(3)


class Interpolated(eqx.Module):
    """f_n(x) = scale tanh(W_n x), W_n of three kinds around I/2, between layers interpolated in one of two ways.

    ``functions``: f is linear in s between two layers, else the weights are. ``linear``: no tanh. ``waves``: residuals
    are zero and the field 1 - cos(2 pi N s). ``constant``: f is the first column of W_n, whatever x;
    ``steep`` adds tanh(N x) to that. ``power``: residuals are N^power times as large. ``told``: what is said to be a
    Lipschitz constant, unless it is zero.
    """

    weights: Float[Array, "N d d"]
    start: Float[Array, " d"]
    functions: Array
    linear: Array
    waves: Array
    constant: Array
    power: Array
    steep: Array
    told: Array

    def function(self, W: Array, x: Array, N: Extent) -> Array:
        """f(W, x)."""
        depth = N.value * jnp.ones(())
        z = W @ x
        constant = W[:, 0] * depth**self.power + self.steep * jnp.tanh(depth * x)
        f = jnp.where(self.linear > 0, z, jnp.tanh(z)) * depth**self.power
        return jnp.where(self.waves > 0, 0, jnp.where(self.constant > 0, constant, f))

    def constants(self, N: Extent) -> tuple[Array, Array]:
        """A Lipschitz constant of all layers, and a bound on their length anywhere."""
        depth = N.value * jnp.ones(())
        meant = self.weights * N.mask[:, None, None]
        slope = jnp.max(jnp.linalg.norm(meant, 2, axis=(1, 2))) * depth**self.power
        length = jnp.max(jnp.linalg.norm(meant[:, :, 0], axis=1)) * depth**self.power + self.steep * D**0.5
        bounds = self.steep * depth, length
        slope, length = jax.lax.cond(self.constant > 0, lambda: bounds, lambda: (slope, D**0.5 * depth**self.power))
        return jnp.where(self.told > 0, self.told, slope), length

    def field(self, n: Any, s: Any, x: Array, N: Extent) -> Array:
        """phi(s, x) in the n-th interval; the last layer is repeated."""
        t = N.value * s - n
        here, there = self.weights[n], self.weights[jnp.minimum(n + 1, N.value - 1)]
        # One function of two weights: both ways in one, (here, there) or twice the interpolated weights.
        middle = (1 - t) * here + t * there
        first = jnp.where(self.functions > 0, here, middle)
        second = jnp.where(self.functions > 0, there, middle)
        f = (1 - t) * self.function(first, x, N) + t * self.function(second, x, N)
        return f + self.waves * (1 - jnp.cos(2 * jnp.pi * t))

    def network(self, N: Extent) -> Float[Array, "nodes d"]:
        """The activations of the residual network."""
        return activations(lambda n, x: self.function(self.weights[n], x, N), self.start, N)

    def flow(self, N: Extent, steps: int) -> tuple[Float[Array, "nodes d"], Float[Array, ""]]:
        """The flow at the layers, with its error."""
        return flows.flow(lambda n, s, x: self.field(n, s, x, N), self.start, N, steps, method=flows.CHEAP)


def interpolated(
    key: Array, N: Extent, kind: Array, scale: Array, functions: Array, linear: Array, waves: Array, constant: Array,
    power: Array, steep: Array, told: Array,
) -> Interpolated:
    """Weights I/2 + scale A_n with A_n = (-1)^n A, iid, or cos(pi n/N) A; A has iid standard normal entries."""
    A = jax.random.normal(named(key, "A"), (D, D))
    # Each layer by its own name: padding does not move the draws.
    iid = jax.vmap(lambda n: jax.random.normal(named(key, "layer", n), (D, D)))(jnp.arange(N.padded))
    n = jnp.arange(N.padded)[:, None, None]
    kinds = (A * (1.0 - 2.0 * (n % 2)), iid, A * jnp.cos(jnp.pi * n / N.value))
    weights = jnp.where(constant > 0, 0, jnp.eye(D) / 2) + scale * jax.lax.select_n(kind, *kinds)
    start = jnp.where(constant > 0, 0, jax.random.normal(named(key, "start"), (D,)))
    return Interpolated(weights, start, functions, linear, waves, constant, power, steep, told)


INTERPOLATED = Subject(
    interpolated,
    kind=ALTERNATING,
    scale=1.0,
    functions=0.0,
    linear=0.0,
    waves=0.0,
    constant=0.0,
    power=0.0,
    steep=0.0,
    told=0.0,
)


def one(key: Array, N: Extent, kind: Array, waves: Array, functions: Array) -> Interpolated:
    """One network, the same for every key."""
    none, full = jnp.zeros(()), jnp.ones(())
    return interpolated(jax.random.key(0), N, kind, full, functions, none, waves, none, none, none, none)


def independent(key: Array, N: Extent, mean: Array, functions: Array, linear: Array) -> Interpolated:
    """Weights ``mean`` I + A_n, A_n of iid standard normal entries."""
    A = jax.vmap(lambda n: jax.random.normal(named(key, "layer", n), (D, D)))(jnp.arange(N.padded))
    start, none = jax.random.normal(named(key, "start"), (D,)), jnp.zeros(())
    return Interpolated(mean * jnp.eye(D) + A, start, functions, linear, none, none, none, none, none)


def neuron(key: Array, N: Extent, c: Array, u: Array, x_0: Array, functions: Array, linear: Array) -> Interpolated:
    """One neuron with the weights c + u, c - u, c + u, ..."""
    weights, none = c + u * (1.0 - 2.0 * (jnp.arange(N.padded) % 2)), jnp.zeros(())
    start = jnp.full((1,), x_0 * jnp.ones(()))
    return Interpolated(weights[:, None, None], start, functions, linear, none, none, none, none, none)
