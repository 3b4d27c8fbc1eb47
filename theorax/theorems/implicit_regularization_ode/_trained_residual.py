r"""Residual networks $h_{k+1} = h_k + V_{k+1} \tanh(W_{k+1} h_k/\sqrt q)/(L \sqrt m)$ in training, from a smooth start.

The output is $B h_L$ with $h_0 = A x$, the loss is $\frac1n \sum_i \|F(x_i) - y_i\|^2$. Gradient flow moves A and B by
their negative gradients, and V and W by L times theirs. Layers beyond the depth are zero, and stay zero.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped

from theorax.language import Corrections, Size
from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named

L = Size("L", "depth")
Q, WIDTH, INPUTS, OUTPUTS, SAMPLES = 6, 8, 3, 2, 6
State = TypeVar("State")


class StartingWeights(IntEnum):
    """Kinds of weights from which training starts, by how they depend on depth."""

    TIED = 0
    SMOOTH = 1
    INDEPENDENT = 2


class ResidualActivation(IntEnum):
    """Functions sigma in a residual; only tanh is as the theorems ask."""

    TANH, RELU, STEP = range(3)


TANH, RELU, STEP = ResidualActivation


def in_powers(size: float, reference: int, reason: str) -> Corrections:
    """The class of the logarithm of an expansion in 1/L whose relative corrections are at most ``size`` at a depth."""
    return Corrections(size=size, slowest=1, rest=0, reference=reference, reason=reason)


class ResidualWeights(eqx.Module):
    """All that is trained."""

    A: Float[Array, "q d"] | Shaped[np.ndarray, "q d"]
    V: Float[Array, "L q m"] | Shaped[np.ndarray, "L q m"]
    W: Float[Array, "L m q"] | Shaped[np.ndarray, "L m q"]
    B: Float[Array, "outputs q"] | Shaped[np.ndarray, "outputs q"]


class ResidualTraining(eqx.Module):
    """Weights to start from, samples, and how training goes.

    ``clip``: every coordinate v of the flow becomes clip tanh(v/clip), unless it is zero. ``root``: residuals are divided
    by sqrt(L) where it is one, by L^4 where it is minus one. ``scaled``: layers move by L times their gradient, or by their
    gradient where it is zero. ``activation``: sigma by its place in the menu; None on symbols, where it is tanh.
    """

    start: ResidualWeights
    X: Float[Array, "n d"] | Shaped[np.ndarray, "n d"]
    Y: Float[Array, "n outputs"] | Shaped[np.ndarray, "n outputs"]
    clip: Scalar
    root: Scalar
    scaled: Scalar
    activation: Scalar | None = None

    def sigma(self, z: Array) -> Array:
        """tanh, the ReLU, or a step."""
        # A proof on symbols has tanh alone: a ReLU cannot be decided there.
        if self.activation is None:
            return jnp.tanh(z)
        return jax.lax.select_n(self.activation, jnp.tanh(z), jnp.where(z > 0, z, 0), jnp.where(z > 0, 1.0, 0.0))

    def residual(self, V: Array, W: Array, h: Float[Array, "n q"]) -> Float[Array, "n q"]:
        """f(h, (V, W)), sample by sample."""
        return self.sigma(h @ W.T / h.shape[-1] ** 0.5) @ V.T / V.shape[-1] ** 0.5

    def width_of_step(self, N: Extent) -> Array:
        """1/L, its square root, or its fourth power."""
        depth = N.value * jnp.ones(())
        step = jnp.where(self.root > 0, 1 / jnp.sqrt(depth), 1 / depth)
        return jnp.where(self.root < 0, 1 / depth**4, step)

    def output(self, weights: ResidualWeights, N: Extent) -> Float[Array, "n outputs"]:
        """F(x_i)."""
        return self.hidden(weights, N)[-1] @ weights.B.T

    def hidden(self, weights: ResidualWeights, N: Extent, kicks: Array | None = None) -> Float[Array, "nodes n q"]:
        """h_0, h_1, ..., and h_L again beyond the depth; ``kicks`` are added to them one by one."""
        step = self.width_of_step(N)
        first = self.X @ weights.A.T
        added = jnp.zeros((N.padded + 1, *first.shape), first.dtype) if kicks is None else kicks

        def layer(h: Any, local: tuple[Any, Any, Any]) -> tuple[Any, Any]:
            V, W, kick = local
            h = h + self.residual(V, W, h) * step + kick
            return h, h

        first = first + added[0]
        return jnp.concatenate([first[None], jax.lax.scan(layer, first, (weights.V, weights.W, added[1:]))[1]])

    def loss(self, weights: ResidualWeights, N: Extent) -> Float[Array, ""]:
        """The mean of the squared errors."""
        return jnp.mean(jnp.sum((self.output(weights, N) - self.Y) ** 2, axis=1))

    def clipped(self, v: Array) -> Array:
        """A bounded map with Lipschitz constant one, or v itself."""
        bound = jnp.where(self.clip > 0, self.clip, 1)
        return jnp.where(self.clip > 0, bound * jnp.tanh(v / bound), v)

    def speed(self, weights: ResidualWeights, N: Extent) -> ResidualWeights:
        """The right side of the gradient flow."""
        by = jax.grad(self.loss)(weights, N)
        factor = jnp.where(self.scaled > 0, N.value, 1)
        inside = N.mask[:, None, None]
        move = lambda g: self.clipped(-g)
        V, W = (jnp.where(inside, move(factor * g), 0) for g in (by.V, by.W))
        return ResidualWeights(move(by.A), V, W, move(by.B))


def measured(seen: Callable[[Array], dict[str, Array]], steps: int) -> dict[str, Array]:
    """Numbers seen of flows that are computed with this many steps, and a bound on the error of each.

    **Errors:** the finer numbers are off by a fifteenth of what the two differ by. The whole difference is declared, with
    2^(-40) for rounding. Errors that layers have in common cancel in the differences of layers.
    """
    both = jax.lax.map(seen, jnp.asarray((steps, 2 * steps)))
    fine = {name: x[1] for name, x in both.items()}
    return fine | {f"{name}_error": jnp.abs(x[1] - x[0]) + 2.0**-40 for name, x in both.items()}


def runge_kutta(field: Callable[[State], State], start: State, shown: int, horizon: float, steps: int | Array) -> State:
    """The classical method of order four: the states at ``shown`` equal times, with ``steps`` steps to each."""
    h = horizon / (shown * steps)

    def step(_: Any, x: State) -> State:
        def stage(carry: tuple[State, State], weights: Array) -> tuple[tuple[State, State], None]:
            k, end = carry
            k = field(jax.tree.map(lambda x, k: x + h * weights[0] * k, x, k))
            return (k, jax.tree.map(lambda end, k: end + h * weights[1] * k, end, k)), None

        rest = jax.tree.map(jnp.zeros_like, x)
        # One loop over the stages: the field is compiled once.
        tableau = jnp.asarray([[0, 1 / 6], [1 / 2, 1 / 3], [1 / 2, 1 / 3], [1, 1 / 6]])
        return jax.lax.scan(stage, (rest, x), tableau)[0][1]

    def interval(x: State, _: None) -> tuple[State, State]:
        x = jax.lax.fori_loop(0, steps, step, x)
        return x, x

    return jax.lax.scan(interval, start, None, length=shown)[1]


class Turning(eqx.Module):
    """A matrix that turns with depth: cos(s) G + sin(s) G'."""

    G: Float[Array, "2 rows columns"]

    def __call__(self, s: Any) -> Array:
        s = jnp.asarray(s)[..., None, None]
        return jnp.cos(s) * self.G[0] + jnp.sin(s) * self.G[1]


def gaussians(keys: Array, count: int) -> Float[Array, "keys count"]:
    """Normal numbers of every key, by one loop: each call of the generator on its own takes seconds to compile."""
    return jax.lax.map(lambda key: jax.random.normal(key, (count,)), keys)


def turning(key: Array) -> tuple[Turning, Turning]:
    """The functions V and W of depth from which a smooth start is sampled."""
    V, W = gaussians(jnp.stack([named(key, f"turning {name}") for name in ("V", "W")]), 2 * Q * WIDTH)
    return Turning(V.reshape(2, Q, WIDTH)), Turning(W.reshape(2, WIDTH, Q))


def training(key: Array, L: Extent, start: Scalar, clip: Scalar, root: Scalar, scaled: Scalar) -> ResidualTraining:
    """The initialisation of the paper: A and B embed and project, V is zero, W is one Gaussian matrix for all layers.

    A smooth start turns V and W with depth, the same functions for all L; independent ones draw every W_k anew. Inputs lie
    on the sphere of radius sqrt(q).
    """
    s = jnp.arange(1, L.padded + 1) / L.value
    V, W = (function(s) for function in turning(key))
    single = jnp.stack([named(key, name) for name in ("W", "X", "Y")])
    layers = jax.vmap(lambda k: named(key, "layer", k))(jnp.arange(L.padded))
    drawn = gaussians(jnp.concatenate([single, layers]), Q * WIDTH)
    tied, own = (jnp.broadcast_to(x.reshape(-1, WIDTH, Q), W.shape) for x in (drawn[0], drawn[3:]))
    W = jax.lax.select_n(start, tied, W, own)
    V = jnp.where(start == StartingWeights.SMOOTH, V, 0)
    inside = L.mask[:, None, None]
    X = drawn[1][: SAMPLES * INPUTS].reshape(SAMPLES, INPUTS)
    X = X / jnp.linalg.norm(X, axis=1, keepdims=True) * Q**0.5
    Y = drawn[2][: SAMPLES * OUTPUTS].reshape(SAMPLES, OUTPUTS)
    embedding, projection = jnp.eye(Q, INPUTS), jnp.eye(OUTPUTS, Q, Q - OUTPUTS)
    weights = ResidualWeights(embedding, jnp.where(inside, V, 0), jnp.where(inside, W, 0), projection)
    return ResidualTraining(weights, X, Y, clip, root, scaled)


def squared_norm(weights: ResidualWeights, layers: Any) -> Array:
    """Squares of A and B, and of the layers, whose mean or sum is taken: ``layers`` divides them."""
    squares = [jnp.sum(x * x) for x in (weights.A, weights.B, weights.V, weights.W)]
    return squares[0] + squares[1] + (squares[2] + squares[3]) / layers


class DrivenTraining(eqx.Module):
    """A training whose layers move ``faster``, and whose A drifts besides."""

    training: ResidualTraining
    faster: Scalar
    drift: Scalar

    def speed(self, weights: ResidualWeights, N: Extent) -> ResidualWeights:
        """The right side of the flow with what disturbs it."""
        moved = self.training.speed(weights, N)
        return ResidualWeights(moved.A + self.drift, self.faster * moved.V, self.faster * moved.W, moved.B)


def driven(key: Array, L: Extent, start: Scalar, clip: Scalar, faster: Scalar, drift: Scalar) -> DrivenTraining:
    """A training that may be disturbed."""
    return DrivenTraining(training(key, L, start, clip, 0, 1), faster, drift)
