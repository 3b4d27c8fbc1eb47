"""Trainings of few samples and one output up to late times, with an integrator that is exact where gradients do not turn.

With R = F - Y, J = dF/dweights and D the speeds of the weights, the flow is dw/dt = -(2/n) D J^T R. Where J stands still,
dR/dt = -K R with K = (2/n) J D J^T, and R(t) = e^(-Kt) R(0) however stiff K is.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from sympy import Integer

from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.implicit_regularization_ode import _trained_residual as setting
from theorax.theorems.implicit_regularization_ode._start_kernel import D, kernels
from theorax.theorems.implicit_regularization_ode._trained_residual import (
    ResidualTraining,
    ResidualWeights,
    StartingWeights,
)

SAMPLES, Q = 10, D + 1
WIDTH, UNSEEN = 4 * SAMPLES, 4
DEPTHS = np.array([1, 2, 4])
ZERO = 2.0**-100  # below every eigenvalue of a kernel that is not singular
OVER = Integer(20)  # training ends at this number over mu_0
AS_IN_PRINT: dict[str, Any] = dict(
    size=1e-3, kind=StartingWeights.TIED, root=0, faster=1.0, rows=WIDTH, twins=0, overlapping=0, lowest=0, others=1.0,
    uneven=0,
)


class LateTraining(eqx.Module):
    """A training whose layers move ``faster``, the constant mu_0 of its start, and inputs that it has not seen."""

    training: ResidualTraining
    faster: Float[Array, "L one one"]
    mu: Float[Array, ""]
    unseen: Float[Array, "points d"]


def moved(
    model: LateTraining, N: Extent, start: ResidualWeights, at: ResidualWeights, R: Float[Array, " n"], h: Any
) -> ResidualWeights:
    """The weights after the time h from ``start``, where the residual is R, with J as at the weights ``at``."""
    training, (n, _) = model.training, model.training.X.shape
    q, m = at.V.shape[1:]

    def hidden(kicks: Array) -> tuple[Array, Array]:
        found = training.hidden(at, N, kicks)
        return jnp.sum(found[-1] @ at.B.T), found

    # Samples do not mix: the gradient of the sum of all outputs holds that of each.
    p, states = jax.grad(hidden, has_aux=True)(jnp.zeros((N.padded + 1, n, q)))
    before, p_0, p = states[:-1], p[0], p[1:]
    S = jnp.tanh(jnp.einsum("kni,kmi->knm", before, at.W) / q**0.5)
    U = jnp.einsum("kni,kim->knm", p, at.V) * (1 - S**2)
    gram = lambda x: x @ jnp.swapaxes(x, -1, -2)
    step, speed = training.width_of_step(N), model.faster * N.value
    layers = jnp.sum(speed * (gram(p) * gram(S) / m + gram(U) * gram(before) / (m * q)), axis=0)
    K = 2 / n * (gram(p_0) * gram(training.X) + gram(states[-1]) + step**2 * layers)
    k, E = jnp.linalg.eigh(K)
    k = jnp.maximum(k, ZERO)
    # The integral of (2/n) e^(-Ks) R over s up to h.
    c = (2 / n * E @ (-jnp.expm1(-k * h) / k * (E.T @ R)))[:, None]
    return ResidualWeights(
        start.A - (c * p_0).T @ training.X,
        start.V - speed * step * jnp.einsum("kni,knm->kim", c * p, S) / m**0.5,
        start.W - speed * step * jnp.einsum("knm,kni->kmi", c * U, before) / (m * q) ** 0.5,
        start.B - c.T @ states[-1],
    )


def late_flow(model: LateTraining, N: Extent, times: Float[Array, " times"], steps: Any) -> ResidualWeights:
    """The weights at these times, by ``steps`` equal steps of the exponential midpoint rule between neighbouring times.

    **Errors:** of order two in what J turns by in a step; with twice the steps three times smaller than the difference.
    """

    def interval(weights: ResidualWeights, length: Array) -> tuple[ResidualWeights, ResidualWeights]:
        h = length / steps

        def step(_: Any, weights: ResidualWeights) -> ResidualWeights:
            R = (model.training.output(weights, N) - model.training.Y)[:, 0]
            # Both halves of the rule are one loop: it is compiled once.
            return jax.lax.fori_loop(
                0, 2, lambda half, at: moved(model, N, weights, at, R, jnp.where(half, h, h / 2)), weights
            )

        weights = jax.lax.fori_loop(0, steps, step, weights)
        return weights, weights

    start = jax.tree.map(jnp.asarray, model.training.start)
    return jax.lax.scan(interval, start, jnp.diff(times, prepend=0.0))[1]


def on_sphere(key: Array, points: int) -> Float[Array, "points d"]:
    """Independent inputs of norm sqrt(q)."""
    X = jax.random.normal(key, (points, D))
    return X / jnp.linalg.norm(X, axis=1, keepdims=True) * Q**0.5


def late(
    key: Array,
    L: Extent,
    size: Scalar,
    kind: Scalar,
    root: Scalar,
    faster: Scalar,
    rows: Scalar,
    twins: Scalar,
    overlapping: Scalar,
    lowest: Scalar,
    others: Scalar,
    uneven: Scalar,
) -> LateTraining:
    """Networks of ``rows`` rows per layer, with targets of norm ``size`` at random or in the lowest direction.

    ``twins``: the first two inputs are equal. ``overlapping``: B reads a coordinate that A writes. ``others`` multiplies W of
    all layers but the first. ``uneven``: every layer at every depth moves at a speed of its own.
    """
    X = on_sphere(named(key, "X"), SAMPLES)
    X = jnp.where((twins > 0) & (jnp.arange(SAMPLES) == 1)[:, None], X[:1], X)
    own = jax.random.normal(named(key, "W"), (L.padded, WIDTH, Q)) * (jnp.arange(WIDTH) < rows)[:, None]
    W = jnp.where(kind == StartingWeights.INDEPENDENT, own, own[:1])
    W = W * jnp.where(jnp.arange(L.padded) == 0, 1, others)[:, None, None]
    own_speed = jnp.exp(jax.random.normal(named(key, "speed", L.value), (L.padded,)))
    faster = faster * jnp.where(uneven > 0, own_speed, 1)[:, None, None]
    V = jnp.where(kind == StartingWeights.SMOOTH, jax.random.normal(named(key, "V"), (L.padded, Q, WIDTH)), 0)
    B = jnp.where(overlapping > 0, jnp.eye(1, Q, D - 1), jnp.eye(1, Q, D))
    inside = L.mask[:, None, None]
    weights = ResidualWeights(jnp.eye(Q, D), jnp.where(inside, V, 0), jnp.where(inside, W, 0), B)
    Y = jax.random.normal(named(key, "Y"), (SAMPLES, 1))
    training = ResidualTraining(weights, X, Y, 0.0, root, 1.0)
    k, E = jnp.linalg.eigh(sum(kernels(training, weights)))
    Y = jnp.where(lowest > 0, E[:, :1], Y)
    training = eqx.tree_at(lambda model: model.Y, training, size * Y / jnp.sqrt(jnp.mean(Y**2)))
    return LateTraining(training, faster, 4 / SAMPLES * k[0], on_sphere(named(key, "unseen"), UNSEEN))


@wraps(late, assigned=())  # subjects name its options
def at_depths(key: Array, L: Extent, **options: Scalar) -> LateTraining:
    """The same network at the depths L, 2 L and 4 L, as one stack."""
    return jax.vmap(lambda times: late(key, deeper(L, times), **options))(DEPTHS)


def deeper(L: Extent, times: Any) -> Extent:
    """So many times the depth, in the padding of the deepest."""
    return Extent(times * L.value, L.doubled.doubled.padded)


def untrained(key: Array, L: Extent, kind: Scalar, overlapping: Scalar) -> ResidualTraining:
    """A small network at its start; ``overlapping``: B reads a coordinate that A writes."""
    found = setting.training(key, L, kind, 0.0, 0, 1.0)
    B = jnp.eye(setting.OUTPUTS, setting.Q, setting.INPUTS - 1)
    return eqx.tree_at(lambda model: model.start.B, found, jnp.where(overlapping > 0, B, found.start.B))


def at_start(training: ResidualTraining, L: Extent) -> dict[str, Array]:
    """The loss at the start, and what it is where F = 0."""
    weights = jax.tree.map(jnp.asarray, training.start)
    return dict(loss=training.loss(weights, L), targets=(training.Y * training.Y).sum() / len(training.Y))
