"""Trainings of few samples up to late times, with an integrator that is exact where gradients do not turn.

With R = F - Y, J = dF/dweights and D the speeds of the weights, the flow is dw/dt = -(2/n) D J^T R. Where J stands still,
dR/dt = -K R with K = (2/n) J D J^T, and R(t) = e^(-Kt) R(0) however stiff K is.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.implicit_regularization_ode import _trained_residual as setting
from theorax.theorems.implicit_regularization_ode._start_kernel import OUTPUTS, D, kernels
from theorax.theorems.implicit_regularization_ode._trained_residual import (
    ResidualTraining,
    ResidualWeights,
    StartingWeights,
)

SAMPLES, Q = 10, D + OUTPUTS
WIDTH, UNSEEN = 4 * SAMPLES, 4
DEPTHS = np.array([1, 2, 4])
ZERO = 2.0**-100  # below every eigenvalue of a kernel that is not singular


class LateTraining(eqx.Module):
    """A training whose layers move ``faster``, the constant mu_0 of its start, and inputs that it has not seen."""

    training: ResidualTraining
    faster: Scalar
    mu: Float[Array, ""]
    unseen: Float[Array, "points d"]


def moved(model: LateTraining, N: Extent, start: ResidualWeights, at: ResidualWeights, h: Any) -> ResidualWeights:
    """The weights after the time h, with J and R linearised at the weights ``at``."""
    training, n = model.training, len(model.training.X)
    F, pull = jax.vjp(lambda weights: training.output(weights, N), at)
    J = jax.vmap(lambda one: pull(one)[0])(jnp.eye(F.size).reshape(F.size, *F.shape))
    layers = model.faster * N.value
    DJ = ResidualWeights(J.A, layers * J.V, layers * J.W, J.B)
    rows = lambda x: jnp.concatenate([leaf.reshape(F.size, -1) for leaf in jax.tree.leaves(x)], axis=1)  # noqa: E731
    weights = zip(jax.tree.leaves(start), jax.tree.leaves(at), strict=True)
    behind = jnp.concatenate([(x - y).reshape(-1) for x, y in weights])
    R = (F - training.Y).reshape(-1) + rows(J) @ behind
    k, U = jnp.linalg.eigh(2 / n * rows(J) @ rows(DJ).T)
    k = jnp.maximum(k, ZERO)
    # The integral of e^(-Ks) R over s up to h.
    total = U @ (-jnp.expm1(-k * h) / k * (U.T @ R))
    return jax.tree.map(lambda w, d: w - 2 / n * jnp.tensordot(total, d, 1), start, DJ)


def late_flow(model: LateTraining, N: Extent, times: Float[Array, " times"], steps: Any) -> ResidualWeights:
    """The weights at these times, by ``steps`` equal steps of the exponential midpoint rule between neighbouring times.

    **Errors:** of order two in what J turns by in a step.
    """

    def interval(weights: ResidualWeights, length: Array) -> tuple[ResidualWeights, ResidualWeights]:
        h = length / steps

        def step(_: Any, weights: ResidualWeights) -> ResidualWeights:
            return moved(model, N, weights, moved(model, N, weights, weights, h / 2), h)

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
) -> LateTraining:
    """Networks of ``rows`` rows per layer, with targets of norm ``size`` at random or in the lowest direction.

    ``twins``: the first two inputs are equal. ``overlapping``: B reads a coordinate that A writes.
    """
    X = on_sphere(named(key, "X"), SAMPLES)
    X = jnp.where((twins > 0) & (jnp.arange(SAMPLES) == 1)[:, None], X[:1], X)
    own = jax.random.normal(named(key, "W"), (L.padded, WIDTH, Q)) * (jnp.arange(WIDTH) < rows)[:, None]
    W = jnp.where(kind == StartingWeights.INDEPENDENT, own, own[:1])
    V = jnp.where(kind == StartingWeights.SMOOTH, jax.random.normal(named(key, "V"), (L.padded, Q, WIDTH)), 0)
    B = jnp.where(overlapping > 0, jnp.eye(OUTPUTS, Q, D - 1), jnp.eye(OUTPUTS, Q, D))
    inside = L.mask[:, None, None]
    weights = ResidualWeights(jnp.eye(Q, D), jnp.where(inside, V, 0), jnp.where(inside, W, 0), B)
    Y = jax.random.normal(named(key, "Y"), (SAMPLES, OUTPUTS))
    training = ResidualTraining(weights, X, Y, 0.0, root, 1.0)
    k, U = jnp.linalg.eigh(sum(kernels(training, weights)))
    Y = jnp.where(lowest > 0, U[:, :1] * Y[:1], Y)
    Y = size * Y / jnp.sqrt(jnp.mean(jnp.sum(Y**2, axis=1)))
    training = eqx.tree_at(lambda model: model.Y, training, Y)
    return LateTraining(training, faster, 4 / SAMPLES * k[0], on_sphere(named(key, "unseen"), UNSEEN))


def at_depths(
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
) -> LateTraining:
    """The same network at the depths L, 2 L and 4 L, as one stack."""
    given = (size, kind, root, faster, rows, twins, overlapping, lowest)
    return jax.vmap(lambda times: late(key, deeper(L, times), *given))(DEPTHS)


def deeper(L: Extent, times: Any) -> Extent:
    """So many times the depth, in the padding of the deepest."""
    return Extent(times * L.value, L.doubled.doubled.padded)


def untrained(key: Array, L: Extent, kind: Scalar, overlapping: Scalar) -> ResidualTraining:
    """A small network at its start; ``overlapping``: B reads a coordinate that A writes."""
    found = setting.training(key, L, kind, 0.0, 0, 1.0)
    B = jnp.eye(setting.OUTPUTS, setting.Q, setting.INPUTS - 1)
    return eqx.tree_at(lambda model: model.start.B, found, jnp.where(overlapping > 0, B, found.start.B))
