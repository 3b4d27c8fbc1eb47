"""Layers whose weights are Gaussian times random scales: one for the matrix, for each row, column or entry, or a mixture."""

from __future__ import annotations

from enum import IntEnum

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from theorax.numerics.annotations import Scalar
from theorax.numerics.distributions import gamma_variates
from theorax.numerics.extents import Extent, block
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp._ensembles import activated, width
from theorax.theorems.pseudo_iid_gp._one_layer import moments

NETWORKS = 16


class ScaleLaw(IntEnum):
    """Laws of a squared scale of mean one, each with any variance."""

    TWO_VALUES = 0
    GAMMA = 1


class Entries(IntEnum):
    """Laws of the entries before they are scaled: centred, of variance one."""

    NORMAL = 0
    SIGNS = 1
    CORRELATED = 2


class Scaled(IntEnum):
    """Sets of entries that share a scale: drawn for each network so that squares have the correlations, or always the same."""

    AS_CORRELATED = -1
    WHOLE = 0
    ROWS = 1
    COLUMNS = 2
    ENTRIES = 3


class ScaledLayers(eqx.Module):
    """Second layers of several networks behind Gaussian pre-activations, W_ij = r_i c_j e_ij g_ij with one g for all."""

    before: Float[Array, "networks N"]
    entries: Float[Array, "N N"]
    of_entries: Float[Array, "N N"]
    of_rows: Float[Array, "networks N"]
    of_columns: Float[Array, "networks N"]
    each: Bool[Array, " networks"]
    activation: Int[Array, ""]

    def __call__(self, n: Extent) -> Float[Array, "networks N"]:
        """The pre-activations of the second layer; e_ij is one but in the networks that scale ``each`` entry."""
        features = jnp.where(n.mask, activated(self.before, self.activation), 0)
        single = features @ (self.of_entries * self.entries).T
        lines = self.of_rows * ((self.of_columns * features) @ self.entries.T)
        return jnp.where(self.each[:, None], single, lines)


def squared_scales(key: Array, law: Array, v: Scalar, shape: tuple[int, ...]) -> Float[Array, "*shape"]:
    """Independent squared scales of mean one and variance v.

    Two values: 1 - sqrt v and 1 + sqrt v, each with probability 1/2, while v is at most one; beyond, 0 and 1 + v.
    """
    v = jnp.asarray(v, jnp.zeros(()).dtype)

    def two_values() -> Array:
        often = jnp.minimum(0.5, 1 / (1 + v))  # of the larger one
        up = 1 + jnp.sqrt(v * (1 - often) / often)
        down = jnp.maximum(1 - jnp.sqrt(v * often / (1 - often)), 0)
        return jnp.where(jax.random.bernoulli(named(key, "larger"), often, shape), up, down)

    return jax.lax.cond(
        law == ScaleLaw.GAMMA, lambda: v * gamma_variates(named(key, "gamma"), jnp.full(shape, 1 / v)), two_values
    )


def _entries(key: Array, n: Extent, kind: Array) -> Float[Array, "N N"]:
    """Entries of variance 1/n: normal, signs, or normal with the correlation 1/4 within a row."""
    normal = jax.random.normal(named(key, "entries"), (n.padded, n.padded))
    common = jax.random.normal(named(key, "of the row"), (n.padded, 1))
    drawn = jax.lax.select_n(kind, normal, jnp.sign(normal), jnp.sqrt(0.75) * normal + 0.5 * common)
    return jnp.where(block(n, n), drawn / jnp.sqrt(width(n)), 0)


def scaled_layers(
    key: Array,
    n: Extent,
    v: Scalar,
    row: Scalar,
    column: Scalar,
    apart: Scalar,
    law: Array,
    activation: Array,
    entries: Array,
    shared_by: Array,
    times: Scalar,
    common: Scalar,
) -> ScaledLayers:
    """Layers with scales whose squares have the variance v and these correlations.

    A network has one scale with the probability ``apart``, scales of its rows with ``row`` - ``apart``, of its columns
    with ``column`` - ``apart``, and else one for each entry. ``times``: the variance of the squares is so many times v.
    ``common``: the variance of a factor of mean one that the squares of all units of the first layer share in a network.
    """
    place = jax.random.uniform(named(key, "which share"), (NETWORKS,))
    kind = sum((place >= edge).astype(int) for edge in (apart, row, row + column - apart))
    kind = jnp.where(shared_by >= 0, shared_by, kind)
    lines = jnp.sqrt(squared_scales(named(key, "lines"), law, v * times, (NETWORKS, n.padded)))
    shape, each = (n.padded, n.padded), kind == Scaled.ENTRIES
    single = jax.lax.cond(
        each.any(), lambda: squared_scales(named(key, "single"), law, v * times, shape), lambda: jnp.ones(shape)
    )
    columns, rows = (kind == Scaled.COLUMNS)[:, None], (kind == Scaled.ROWS)[:, None]
    signs = jax.random.rademacher(named(key, "common scale"), (NETWORKS, 1))
    return ScaledLayers(
        jax.random.normal(named(key, "first layer"), (NETWORKS, n.padded)) * jnp.sqrt(1 + jnp.sqrt(common) * signs),
        _entries(key, n, entries),
        jnp.sqrt(single),
        jnp.where(columns, 1, jnp.where(rows, lines, lines[:, :1])),
        jnp.where(columns, lines, 1),
        each,
        activation,
    )


def observe(net: ScaledLayers, n: Extent) -> dict[str, Float[Array, ""]]:
    """Means of fourth powers and of products of squares, over units, or pairs of them, and networks."""
    return moments(net(n), n)
