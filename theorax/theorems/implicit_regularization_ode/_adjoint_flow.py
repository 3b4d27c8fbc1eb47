"""Backpropagation through the layers, velocities of the limit, and trainings at weights that are functions of depth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.language import Subject
from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import Extent
from theorax.theorems.implicit_regularization_ode import _trained_residual as setting
from theorax.theorems.implicit_regularization_ode._trained_residual import (
    TANH,
    ResidualTraining,
    ResidualWeights,
    StartingWeights,
    Turning,
)


def slopes(model: ResidualTraining, W: Array, h: Float[Array, "n q"]) -> Float[Array, "n m"]:
    """The derivative of sigma at W h/sqrt(q); that of a step is zero, as automatic differentiation takes it."""
    z = h @ W.T / h.shape[-1] ** 0.5
    smooth = 1 - jnp.tanh(z) ** 2
    if model.activation is None:
        return smooth
    return jax.lax.select_n(model.activation, smooth, jnp.where(z > 0, 1.0, 0.0), jnp.zeros_like(z))


def pulled(model: ResidualTraining, V: Array, W: Array, h: Array, p: Array) -> Float[Array, "n q"]:
    """(d_1 f)^T p, sample by sample."""
    return (p @ V / V.shape[1] ** 0.5 * slopes(model, W, h)) @ W / V.shape[0] ** 0.5


def pushed(model: ResidualTraining, V: Array, W: Array, h: Array, p: Array) -> Float[Array, "n q"]:
    """d_1 f p, sample by sample."""
    return (p @ W.T / V.shape[0] ** 0.5 * slopes(model, W, h)) @ V.T / V.shape[1] ** 0.5


def gradients(model: ResidualTraining, weights: ResidualWeights, N: Extent) -> Float[Array, "nodes n q"]:
    """n dl/dh_k: the derivative of the loss by what is added to h_k."""
    kicks = jnp.zeros((N.padded + 1, len(model.X), len(weights.A)))

    def errors(kicks: Array) -> Array:
        return jnp.sum((model.hidden(weights, N, kicks)[-1] @ weights.B.T - model.Y) ** 2)

    return jax.grad(errors)(kicks)


def velocities(model: ResidualTraining, V: Array, W: Array, h: Array, p: Array) -> list[Array]:
    """dV/dt and dW/dt of the limit at one depth: minus the mean of (d_2 f)^T P over the samples, clipped."""
    n, (q, m) = len(h), V.shape
    moved = (
        -p.T @ model.sigma(h @ W.T / q**0.5) / (n * m**0.5),
        -(p @ V * slopes(model, W, h)).T @ h / (n * (q * m) ** 0.5),
    )
    return [model.clipped(v) for v in moved]


class SmoothTraining(eqx.Module):
    """A training, and the functions of depth from which its start was sampled."""

    training: ResidualTraining
    V: Turning
    W: Turning


def smooth(key: Array, L: Extent, clip: Scalar, root: Scalar, scaled: Scalar, alternating: Any) -> SmoothTraining:
    """A smooth start; with ``alternating`` every second layer has -V."""
    found = setting.training(key, L, StartingWeights.SMOOTH, clip, root, scaled)
    signs = jnp.where((jnp.arange(L.padded) % 2 == 0) & (alternating > 0), -1, 1)
    found = eqx.tree_at(lambda model: model.start.V, found, found.start.V * signs[:, None, None])
    return SmoothTraining(found, *setting.turning(key))


def at_kinks(
    key: Array, L: Extent, clip: Scalar, root: Scalar, scaled: Scalar, alternating: Any, activation: Any
) -> SmoothTraining:
    """A smooth start; unless sigma is tanh, W reads what A leaves empty, and the rest at the strength 1/L."""
    found = smooth(key, L, clip, root, scaled, alternating)
    found = eqx.tree_at(lambda model: model.training, found, replace(found.training, activation=activation))
    filled = (jnp.arange(setting.Q) < setting.INPUTS) & (activation != TANH)
    of = lambda model: (model.training.start.W, model.W.G)
    W, G = of(found)
    return eqx.tree_at(of, found, (W * jnp.where(filled, 1 / L.value, 1), G * jnp.where(filled, 0, 1)))


SAMPLED = Subject(setting.training, start=StartingWeights.SMOOTH, clip=0.0, root=0, scaled=1)
FUNCTIONS = Subject(at_kinks, clip=0.0, root=0, scaled=1, alternating=0, activation=TANH)
