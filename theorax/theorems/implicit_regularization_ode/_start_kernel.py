"""Networks at the start of training: their kernel, the square of their gradient, and targets aimed at its kernel."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.implicit_regularization_ode import _trained_residual as setting
from theorax.theorems.implicit_regularization_ode._trained_residual import (
    ResidualTraining,
    ResidualWeights,
    StartingWeights,
)

DEPTH, D, OUTPUTS = 3, 8, 2


def paper(key: Array, L: Extent, kind: Scalar, root: Scalar, embedding: Scalar) -> ResidualTraining:
    """Small networks; A is multiplied by ``embedding``."""
    found = setting.training(key, L, kind, 0.0, root, 1.0)
    return eqx.tree_at(lambda model: model.start.A, found, embedding * found.start.A)


def kernels(model: ResidualTraining, weights: ResidualWeights) -> tuple[Any, Any]:
    """2 X^T X, and S^T S/m, as if A embedded."""
    X = model.X
    S = jnp.tanh(X @ weights.W[0][:, : X.shape[1]].T / weights.A.shape[0] ** 0.5)
    S = S / weights.V.shape[-1] ** 0.5  # rounded as in the network
    return 2 * X @ X.T, S @ S.T


def squares(model: ResidualTraining, weights: ResidualWeights, L: Extent) -> Any:
    """The square of the gradient, that by the layers L times."""
    by = jax.grad(model.loss)(weights, L)
    layers = (by.V * by.V).sum() + (by.W * by.W).sum()
    return (by.A * by.A).sum() + (by.B * by.B).sum() + L.value * layers


class Aimed(eqx.Module):
    """A training, and the lowest eigenvector of its kernel."""

    training: ResidualTraining
    direction: Array


def aimed(
    key: Array,
    n: int,
    kind: Scalar,
    root: Scalar,
    embedding: Scalar,
    rows: Scalar,
    lowest: Scalar,
    others: Scalar,
    pull: Scalar,
) -> Aimed:
    """A network of n samples and ``rows`` rows per layer, its targets at random or in the lowest direction.

    ``others`` multiplies W of all layers but the first. ``pull``: V is -pull W^T in the coordinates that A fills.
    """
    q, m = D + OUTPUTS, 2 * n
    X = jax.random.normal(named(key, "X"), (n, D))
    X = X / jnp.linalg.norm(X, axis=1, keepdims=True) * q**0.5
    V = jax.random.normal(named(key, "V"), (DEPTH, q, m))
    own = jax.random.normal(named(key, "W"), (DEPTH, m, q)) * (jnp.arange(m) < rows)[:, None]
    W = jnp.where(kind == StartingWeights.INDEPENDENT, own, own[:1])
    W = W * jnp.where(jnp.arange(DEPTH) == 0, 1, others)[:, None, None]
    inwards = -pull * jnp.swapaxes(W, 1, 2) * (jnp.arange(q) < D)[:, None]
    V = jnp.where(kind == StartingWeights.SMOOTH, V, inwards)
    weights = ResidualWeights(embedding * jnp.eye(q, D), V, W, jnp.eye(OUTPUTS, q, D))
    Y = jax.random.normal(named(key, "Y"), (n, OUTPUTS))
    model = ResidualTraining(weights, X, Y, 0.0, root, 1.0)
    ends, layers = kernels(model, weights)
    direction = jnp.linalg.eigh(ends + layers)[1][:, 0]
    model = eqx.tree_at(lambda model: model.Y, model, jnp.where(lowest > 0, direction[:, None] * Y[:1], Y))
    return Aimed(model, direction)


def features(key: Array, n: int, m: int, d: int, rows: Scalar, twins: Scalar, planar: Scalar) -> tuple[Array, Array]:
    """X and S, as columns; the dimension q is d + 2."""
    q = d + OUTPUTS
    X = jax.random.normal(named(key, "X"), (d, n)) * jnp.where((planar > 0) & (jnp.arange(d) >= 2), 0, 1)[:, None]
    X = jnp.where((twins > 0) & (jnp.arange(n) == 1), X[:, :1], X)
    X = X / jnp.linalg.norm(X, axis=0) * q**0.5
    kept = jnp.arange(m) < rows * n
    S = jnp.tanh(jax.random.normal(named(key, "W"), (m, d)) @ X / q**0.5) * kept[:, None]
    return X, S / jnp.sqrt(rows * n)
