r"""Residual networks at the start of training, and the squared slope of their loss.

The slope is $\|\nabla_A l\|^2 + L \sum_k \|\nabla_{Z_k} l\|^2 + \|\nabla_B l\|^2$, Z_k the pair of V_k and W_k. At the start A
embeds the inputs in the first coordinates, B reads the last ones, V is zero and W is one Gaussian matrix for all layers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.annotations import Entries, Scalar
from theorax.numerics.keys import named

OUTPUTS = 2


class InitialWeights(eqx.Module):
    """All that is trained."""

    A: Entries[Any, "q d"]
    V: Entries[Any, "L q m"]
    W: Entries[Any, "L m q"]
    B: Entries[Any, "outputs q"]


class InitialNetwork(eqx.Module):
    """Weights and samples, a row each; ``factor``: of the gradient by a layer, the depth in the paper."""

    weights: InitialWeights
    X: Entries[Any, "n d"]
    Y: Entries[Any, "n outputs"]
    factor: Scalar
    sigma: Callable[[Any], Any] = eqx.field(static=True)

    def features(self, W: Any, h: Any) -> Any:
        """sigma(W h/sqrt(q)), sample by sample."""
        return self.sigma(h @ W.T / h.shape[1] ** 0.5)

    def loss(self, weights: InitialWeights) -> Any:
        """The mean of the squared errors."""
        h, (L, _, m) = self.X @ weights.A.T, weights.V.shape
        for V, W in zip(weights.V, weights.W, strict=True):
            h = h + self.features(W, h) @ V.T / (L * m**0.5)
        return ((h @ weights.B.T - self.Y) ** 2).sum() / len(self.X)

    def slope(self) -> Any:
        """The squared slope."""
        by = jax.grad(self.loss)(self.weights)
        square = lambda g: (g**2).sum()  # noqa: E731
        return square(by.A) + self.factor * (square(by.V) + square(by.W)) + square(by.B)

    def slope_over_loss(self) -> Any:
        """The squared slope over the loss."""
        return self.slope() / self.loss(self.weights)


def initial_network(
    key: Array, n: int, d: int, q: int, m: int, L: int, sigma: Callable[[Any], Any], length: Scalar = 1.0
) -> InitialNetwork:
    """Inputs uniform on the sphere of radius sqrt(q) times ``length``, normal targets."""
    W = jax.random.normal(named(key, "W"), (m, q))
    X = jax.random.normal(named(key, "X"), (n, d))
    X = length * q**0.5 * X / jnp.linalg.norm(X, axis=1, keepdims=True)
    Y = jax.random.normal(named(key, "Y"), (n, OUTPUTS))
    weights = InitialWeights(
        jnp.eye(q, d), jnp.zeros((L, q, m)), jnp.broadcast_to(W, (L, m, q)), jnp.eye(OUTPUTS, q, q - OUTPUTS)
    )
    return InitialNetwork(weights, X, Y, 1.0 * L, sigma)


def initial_form(net: InitialNetwork) -> Float[Array, "n n"]:
    """2 X^T X + S^T S/m of the paper's columns, S = sigma(W A X/sqrt(q))."""
    S = net.features(net.weights.W[0], net.X @ net.weights.A.T)
    return 2 * net.X @ net.X.T + S @ S.T / S.shape[1]


def small(
    key: Array, n: int, d: int, q: int, m: int, L: int, moved: Scalar, stretched: Scalar, own: Scalar, unscaled: Scalar
) -> InitialNetwork:
    """With tanh; each option but zero breaks what is assumed of the start."""
    net = initial_network(key, n, d, q, m, L, jnp.tanh)
    V = moved * jax.random.normal(named(key, "V"), (L, q, m))
    W = jnp.where(own == 1, jax.random.normal(named(key, "own"), (L, m, q)), net.weights.W)
    weights = InitialWeights((1 + stretched) * net.weights.A, V, W, net.weights.B)
    return InitialNetwork(weights, net.X, net.Y, jnp.where(unscaled == 1, 1.0, L), jnp.tanh)


def along_the_worst(
    key: Array,
    n: int,
    d: int,
    q: int,
    m: int,
    L: int,
    moved: Scalar,
    stretched: Scalar,
    own: Scalar,
    unscaled: Scalar,
    narrow: Scalar,
) -> tuple[InitialNetwork, Array]:
    """``narrow``: no neuron but the first three is used."""
    net = small(key, n, d, q, m, L, moved, stretched, own, unscaled)
    used = jnp.where((narrow == 1) & (jnp.arange(m) >= 3), 0.0, 1.0)
    net = eqx.tree_at(lambda net: net.weights.W, net, net.weights.W * used[:, None])
    values, directions = jnp.linalg.eigh(initial_form(net))
    # Eigenvalues are off by a few n 2^(-53) of the largest: what is taken off makes the float a lower bound.
    least = 4 / n * (values[0] - 2.0**-44 * values[-1])
    return eqx.tree_at(lambda net: net.Y, net, jnp.outer(directions[:, 0], net.Y[0])), least


def faint(z: Array) -> Array:
    """sin(sqrt(2) z)/10^4: eta_3^2/K^2 is the largest possible of a sine, and the constants of the proof are moderate."""
    return jnp.sin(jnp.sqrt(2.0) * z) / 1e4


def near_start(
    key: Array,
    n: int,
    d: int,
    q: int,
    m: int,
    L: int,
    eta: Scalar,
    K: Scalar,
    radius: Scalar,
    collapsed: Scalar,
    twins: Scalar,
    length: Scalar,
) -> tuple[InitialNetwork, InitialNetwork]:
    """A point at the distance ``radius`` times c_3/sqrt(n q); ``collapsed``: A = 0 and B = 0."""
    net = initial_network(key, n, d, q, m, L, faint, length)
    start = net.weights
    reach = radius * jnp.minimum(eta / (32 * jnp.sqrt(2.0) * K), 0.5) / jnp.sqrt(1.0 * n * q)

    def kick(name: str, *shape: int) -> Array:
        """Of Frobenius norm one; rank one in each layer."""
        left, right = (
            jax.random.normal(named(key, f"{name} {side}"), (*shape[:-2], k)) for side, k in enumerate(shape[-2:])
        )
        unit = lambda v: v / jnp.linalg.norm(v, axis=-1, keepdims=True)  # noqa: E731
        return unit(left)[..., :, None] * unit(right)[..., None, :]

    stay = 1.0 - collapsed
    weights = InitialWeights(
        stay * (start.A + reach * kick("A", q, d)),
        start.V + reach / 2 * kick("V", L, q, m),
        start.W + reach / 2 * kick("W", L, m, q),
        stay * (start.B + reach * kick("B", OUTPUTS, q)),
    )
    same = (twins == 1) & (jnp.arange(n) % 2 == 1)[:, None]
    X, Y = jnp.where(same, net.X[:1], net.X), jnp.where(same, -net.Y[:1], net.Y)
    return InitialNetwork(weights, X, Y, net.factor, faint), InitialNetwork(start, X, Y, net.factor, faint)
