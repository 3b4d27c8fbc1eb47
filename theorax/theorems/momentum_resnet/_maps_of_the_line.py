"""Networks on the line whose steps have bounded slopes, and their training on a target by damped Newton steps."""

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
from theorax.theorems.momentum_resnet import _momentum as momentum
from theorax.theorems.momentum_resnet._momentum import MomentumNetwork

NEURONS = 8
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)  # exact up to degree 31


def block(theta: Any, x: Any) -> Any:
    """One hidden layer, at many inputs."""
    a, b, c = theta
    return a @ jnp.tanh(b[:, None] * x + c[:, None])


def network(raw: Float[Array, "layers three units"], ell: Scalar, g: Scalar) -> MomentumNetwork:
    """Steps with Lipschitz constants below ell, whatever the raw weights; h undoes the factor 1 - g of a step."""
    a, b, c = jnp.moveaxis(raw, 1, 0)
    a = ell * a / (1 + jnp.abs(a * b).sum(1, keepdims=True))
    return MomentumNetwork(block, jnp.stack([a, b, c], 1), g, 1 / (1 - g))


def gap(net: MomentumNetwork, N: Extent, wanted: Any) -> Float[Array, " nodes"]:
    """Differences from what is wanted at the nodes, weighted so that the sum of their squares is the mean square."""
    ends = momentum.through(net, (NODES, jnp.zeros_like(NODES)), N)[0]
    return jnp.sqrt(WEIGHTS / 2) * (ends - wanted)


class TrainedMap(eqx.Module):
    """A trained network and its target; another one, where it started, and its target, the map of a network."""

    net: MomentumNetwork
    h: Float[Array, " nodes"]
    found: MomentumNetwork
    start: MomentumNetwork
    member: Float[Array, " nodes"]


def trained(
    start: Float[Array, "layers three units"], N: Extent, ell: Scalar, g: Scalar, wanted: Any, steps: Any
) -> MomentumNetwork:
    """Levenberg and Marquardt's method: a damped Newton step is kept if it comes nearer."""

    def missed(flat: Array) -> Array:
        return gap(network(flat.reshape(start.shape), ell, g), N, wanted)

    def step(_: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        flat, damping = carry
        here, J = missed(flat), jax.jacfwd(missed)(flat)
        trial = flat - jnp.linalg.solve(J.T @ J + damping * jnp.eye(flat.size), J.T @ here)
        better = jnp.sum(missed(trial) ** 2) < jnp.sum(here**2)
        return jnp.where(better, trial, flat), jnp.where(better, damping / 4 + 1e-14, damping * 4)

    flat = jax.lax.fori_loop(0, steps, step, (start.ravel(), jnp.ones(())))[0]
    return network(flat.reshape(start.shape), ell, g)


def trained_map(key: Array, N: Extent, g: Scalar, bound: Scalar, sign: Scalar, steps: Any) -> TrainedMap:
    """Networks with steps of slopes below ``bound``, trained on sign x^3 and on the map of another network."""
    draw = lambda name: jax.random.normal(named(key, name), (1, 3, NEURONS))
    h, member = sign * jnp.asarray(NODES) ** 3, draw("member")
    wanted = momentum.through(network(member, bound, g), (NODES, jnp.zeros_like(NODES)), N)[0]
    near = member + draw("other") / 2
    net, found = trained(draw("start"), N, bound, g, h, steps), trained(near, N, bound, g, wanted, steps)
    return TrainedMap(net, h, found, network(near, bound, g), wanted)


def trained_to_cross(key: Array, N: Extent, g: Scalar, steps: Any) -> MomentumNetwork:
    """One network with steps of slopes below 9/10, trained on -x^3."""
    start = jax.random.normal(named(key, "start"), (1, 3, NEURONS))
    return trained(start, N, 0.9, g, -(jnp.asarray(NODES) ** 3), steps)


def untied_layers(
    key: Array, N: int, ell: Scalar, g: Scalar, factor: Scalar, single: Scalar
) -> tuple[MomentumNetwork, Array]:
    """Layers with weights of their own; ``single``: one neuron each, of slope near -ell at zero. ``factor``: of all steps."""
    a, b, c = (jax.random.normal(named(key, name), (N, NEURONS)) for name in ("a", "b", "c"))
    first = jnp.arange(NEURONS) == 0
    net = network(jnp.stack([a, b, c], 1), factor * ell, g)
    near = jax.random.uniform(named(key, "near"), (N, 1), minval=0.98)
    alone = jnp.stack([-near * factor * ell * first / b, b, 0 * c], 1)
    weights = jnp.where(single > 0, alone, net.weights)
    return MomentumNetwork(block, weights, g, net.h), jnp.linspace(-1.0, 1.0, 33)
