r"""Residual networks $x_{n+1} = x_n + f_n(x_n)/N$: activations, their recovery from the last one, gradients.

A network is a scheme (Euler or Heun) with the function $f(\theta, x)$ of a layer, a stack of weights, and a depth N. A
stack shorter than the depth repeats its last weights, so that a stack of one is a network of tied layers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import Extent


class Scheme(eqx.Module):
    """A scheme that runs a layer forwards, and backwards without its input; abstract, see `Euler` and `Heun`.

    ``function(theta, x)`` is the residual function. ``h``: the step, 1/N. One step runs on arrays and, in a proof, on symbols.
    """

    function: Callable[[Any, Any], Any]

    @property
    @abstractmethod
    def stages(self) -> int:
        """Number of neighbouring functions that one step uses; N functions make N + 1 - stages steps."""

    @abstractmethod
    def forwards(self, local: tuple[Any, ...], x: Any, h: Any) -> Any:
        """x_n+1 from x_n."""

    @abstractmethod
    def backwards(self, local: tuple[Any, ...], x: Any, h: Any) -> Any:
        """An approximation of x_n from x_n+1."""

    def local(self, weights: Array, n: Any) -> tuple[Array, ...]:
        """The weights of the n-th step."""
        return tuple(weights[jnp.minimum(n + i, len(weights) - 1)] for i in range(self.stages))

    def steps(self, N: Extent) -> Any:
        """The number of steps of N functions."""
        return N.value + 1 - self.stages


class Euler(Scheme):
    """Forwards x + h f_n(x), backwards x - h f_n(x) at the later point."""

    @property
    def stages(self) -> int:
        return 1

    def forwards(self, local: tuple[Any, ...], x: Any, h: Any) -> Any:
        return x + h * self.function(local[0], x)

    def backwards(self, local: tuple[Any, ...], x: Any, h: Any) -> Any:
        return x - h * self.function(local[0], x)


class Heun(Scheme):
    """Forwards and backwards the mean of two slopes; ``swapped`` exchanges the two functions on the way back."""

    swapped: Any = 0.0

    @property
    def stages(self) -> int:
        return 2

    def forwards(self, local: tuple[Any, ...], x: Any, h: Any) -> Any:
        here, there = local
        slope = self.function(here, x)
        return x + h * (slope + self.function(there, x + h * slope)) / 2

    def backwards(self, local: tuple[Any, ...], x: Any, h: Any) -> Any:
        first = self.swapped * local[0] + (1 - self.swapped) * local[1]
        second = (1 - self.swapped) * local[0] + self.swapped * local[1]
        slope = self.function(first, x)
        return x - h * (slope + self.function(second, x - h * slope)) / 2


def activations(layer: Callable[[Any, Array], Array], start: Float[Array, " *shape"], N: Extent) -> Array:
    """x_0, ..., x_N of x_(n+1) = x_n + layer(n, x_n)/N; zero beyond x_N."""
    nodes = jnp.zeros((N.padded + 1, *start.shape), start.dtype).at[0].set(start)

    def step(n: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        x, nodes = carry
        x = x + layer(n, x) / N.value
        return x, nodes.at[n + 1].set(x)

    return jax.lax.fori_loop(0, N.value, step, (start, nodes))[1]


def last(scheme: Scheme, weights: Float[Array, " stack *shape"], x: Array, N: Extent, h: Scalar) -> Array:
    """The last activation; every activation is kept for the gradient, as automatic differentiation does."""

    def step(x: Array, n: Array) -> tuple[Array, None]:
        return jnp.where(n < scheme.steps(N), scheme.forwards(scheme.local(weights, n), x, h), x), None

    return jax.lax.scan(step, x, jnp.arange(N.padded + 1 - scheme.stages))[0]


def forth_and_back(scheme: Scheme, weights: Array, x: Array, N: Extent, h: Scalar) -> tuple[Array, Array]:
    """The activations x_0, x_1, ..., and those recovered from the last one; zero beyond it."""
    count = scheme.steps(N)
    empty = jnp.zeros((N.padded + 2 - scheme.stages, *x.shape), x.dtype)

    def forth(n: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        x, nodes = carry
        x = scheme.forwards(scheme.local(weights, n), x, h)
        return x, nodes.at[n + 1].set(x)

    def back(k: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        x, nodes = carry
        n = count - 1 - k
        x = scheme.backwards(scheme.local(weights, n), x, h)
        return x, nodes.at[n].set(x)

    end, nodes = jax.lax.fori_loop(0, count, forth, (x, empty.at[0].set(x)))
    return nodes, jax.lax.fori_loop(0, count, back, (end, empty.at[count].set(end)))[1]


@eqx.filter_custom_vjp
def last_without_storage(
    differentiated: tuple[Array, Array], scheme: Scheme, N: Extent, h: Scalar
) -> Array:  # the signature that filter_custom_vjp asks for: what is differentiated comes first, as one argument
    """The last activation of `last`; its gradient runs on recovered activations (the discrete adjoint).

    **Source:** Sander et al. 2022a.
    """
    weights, x = differentiated
    return last(scheme, weights, x, N, h)


@last_without_storage.def_fwd
def _forwards(
    perturbed: Any, differentiated: tuple[Array, Array], scheme: Scheme, N: Extent, h: Scalar
) -> tuple[Array, Array]:
    weights, x = differentiated
    end = jax.lax.fori_loop(0, scheme.steps(N), lambda n, x: scheme.forwards(scheme.local(weights, n), x, h), x)
    return end, end


@last_without_storage.def_bwd
def _backwards(
    end: Array,
    cotangent: Array,
    perturbed: Any,
    differentiated: tuple[Array, Array],
    scheme: Scheme,
    N: Extent,
    h: Scalar,
) -> tuple[Array, Array]:
    weights, _ = differentiated
    count = scheme.steps(N)

    def layer(k: Any, carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        x, p, gradient = carry
        n = count - 1 - k
        local = scheme.local(weights, n)
        x = scheme.backwards(local, x, h)
        by_weights, p = jax.vjp(lambda local, x: scheme.forwards(local, x, h), local, x)[1](p)
        for i, part in enumerate(by_weights):
            gradient = gradient.at[jnp.minimum(n + i, len(weights) - 1)].add(part)
        return x, p, gradient

    _, p, gradient = jax.lax.fori_loop(0, count, layer, (end, cotangent, jnp.zeros_like(weights)))
    return gradient, p
