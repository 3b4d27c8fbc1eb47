"""Layers of low rank behind Gaussian pre-activations: one of them, several in a chain, and one that is no square."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from theorax.numerics.annotations import Scalar
from theorax.numerics.ensembles import gaussian, haar_rows
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._wide_networks import layer

NETWORKS, DEPTHS, MOST = 32, (1, 2, 3), 4


class Layers(eqx.Module):
    """Pre-activations of one layer of independent networks, or of several layers, at one input each."""

    h: Float[Array, "*stack networks N"]


def layers(key: Array, n: Extent, law: Scalar, share: Scalar, activation: Int[Array, ""]) -> Layers:
    """Sampled without the weights: given the layer before they are equal in law to the product with real ones."""

    def network(number: Array) -> Array:
        inner = first(named(key, "first layer", number), n, activation)
        return layer(named(key, "second layer", number), inner, n, law, share)[0]

    return Layers(jax.vmap(network)(jnp.arange(NETWORKS)))


def first(key: Array, n: Extent, activation: Int[Array, ""]) -> Float[Array, "1 N"]:
    """Activations of a first layer, which is Gaussian of unit variance."""
    before = jnp.where(n.mask, jax.random.normal(key, (1, n.padded)), 0)
    return jnp.where(n.mask, setting.activated(before, activation), 0)


def rectangles(key: Array, n: Extent, m: Extent, rank: Scalar, activation: Int[Array, ""], split: Scalar) -> Layers:
    """m units behind n inputs, W = C P drawn: C has ``rank`` Haar columns in the space of the units, at most four.

    ``split``: C has orthonormal columns that split the units: unit i reads the entry i mod ``rank`` of P f alone.
    """
    r = Extent(jnp.asarray(rank, jnp.int32), MOST)
    scale = jnp.sqrt(m.value / (n.value * jnp.asarray(rank, jnp.zeros(()).dtype)))
    reads = m.mask & (jnp.arange(m.padded) % r.value == jnp.arange(MOST)[:, None])
    columns = jnp.where(reads, jnp.sqrt(r.value / m.value), 0)

    def network(number: Array) -> Array:
        inner = first(named(key, "first layer", number), n, activation)[0]
        P = gaussian(named(key, "coefficients", number), r, n)
        C = jnp.where(split > 0, columns, haar_rows(named(key, "frame", number), r, m)).T
        return scale * (C @ (P @ inner))

    return Layers(jax.vmap(network)(jnp.arange(NETWORKS)))


def deep_layers(key: Array, n: Extent, law: Scalar, share: Scalar) -> Layers:
    """ReLU layers in a chain, the first one behind Gaussian pre-activations; their variance stays one."""

    def network(number: Array) -> Array:
        own = named(key, "network", number)
        start = jnp.where(n.mask, jax.random.normal(named(own, "first layer"), (1, n.padded)), 0)

        def following(h: Array, place: Array) -> tuple[Array, Array]:
            inner = jnp.where(n.mask, jnp.maximum(h, 0), 0)
            h = jnp.sqrt(2.0) * layer(named(own, "layer", place), inner, n, law, share)
            return h, h[0]

        return jax.lax.scan(following, start, jnp.arange(len(DEPTHS)))[1]

    return Layers(jax.vmap(network, out_axes=1)(jnp.arange(NETWORKS)))


def mean_power(k: int, h: Float[Array, "*stack networks N"], width: Extent) -> Float[Array, " *stack"]:
    """h_i^k, mean over the units and the networks."""
    return (jnp.where(width.mask, h, 0) ** k).sum(-1).mean(-1) / width.value
