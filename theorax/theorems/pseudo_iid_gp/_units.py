"""A layer behind features at pairs of inputs, and the sums over its columns that decide how near it is to Gaussian.

Under signs e_j of its columns a unit is sum_j e_j W_ij f_j: given |W| and the features f its variance is
V_i = sum_j W_ij^2 f_j^2, its terms are as large as sum_j W_ij^4 f_j^4 says, and two units have the covariance
sum_j W_ij W_kj f_j^2.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp._ensembles import LinearLayer, activated, layer, width

PAIRS, UNITS = 8, 4


class Units(eqx.Module):
    """A layer without bias behind features at pairs of inputs."""

    layer: LinearLayer
    features: Float[Array, "2 pairs N"]

    def __call__(self) -> Float[Array, "2 pairs N"]:
        """The pre-activations."""
        return jax.vmap(jax.vmap(self.layer))(self.features)


def units(
    key: Array,
    n: Extent,
    law: Array,
    share: Array,
    activation: Array,
    scaled: Array,
    tied: Array,
    rare: Array,
    kept: Array,
    matched: Array,
) -> Units:
    """Features phi(u), phi(v) of a Gaussian first layer at inputs of correlation 1/2.

    ``scaled``: all features of a pair are multiplied by one root of 1/2 or 3/2. ``tied``: the first layer is the
    transpose of this one, and its inputs are signs. ``rare``: one feature in n is kept and scaled up for the others.
    ``kept``: four columns in n are kept and scaled up. ``matched``: every other column is kept and scaled up, those in
    whose places the pre-activations of the first layer have a positive sum over inputs.
    """
    second = layer(named(key, "second layer"), n, law, share)
    shape = (2, PAIRS, n.padded)
    signs = jax.random.rademacher(named(key, "inputs"), shape).astype(second.weight.dtype)
    first = jnp.where(
        tied, jnp.where(n.mask, signs, 0) @ second.weight, jax.random.normal(named(key, "first layer"), shape)
    )
    pair = jnp.stack([first[0], (first[0] + jnp.sqrt(3.0) * first[1]) / 2])
    squares = jnp.where(jax.random.bernoulli(named(key, "scale"), shape=(PAIRS, 1)), 1.5, 0.5)
    features = jnp.where(scaled, jnp.sqrt(squares), 1.0) * activated(pair, activation)
    size = width(n)
    features = jnp.where(rare, jnp.sqrt(size) * _chosen(named(key, "rare"), 1 / size, (PAIRS, n.padded)), 1) * features
    columns = jnp.where(kept, jnp.sqrt(size / 4) * _chosen(named(key, "kept"), 4 / size, (n.padded,)), 1)
    columns = jnp.where(matched, jnp.sqrt(2.0) * (first[0].sum(0) > 0), columns)
    return Units(LinearLayer(second.weight * columns), jnp.where(n.mask, features, 0))


def _chosen(key: Array, often: Array, shape: tuple[int, ...]) -> Array:
    return jax.random.bernoulli(key, often, shape).astype(often.dtype)


def observe(net: Units, n: Extent) -> dict[str, Array]:
    """The means of V^2, of the sums of fourth powers and of the covariances squared; units i are even, units k odd."""
    h, W, f = net(), net.layer.weight, net.features
    size = width(n)
    covariances = jnp.einsum("ij,xj,kj->xik", W, f[0, :4] ** 2, W)
    off = (covariances**2).sum() - (jnp.diagonal(covariances, axis1=1, axis2=2) ** 2).sum()
    found = dict(
        concentration=((f**2 @ (W**2).T) ** 2).sum(-1).mean() / size,
        largest=(f**4 @ (W**4).T).sum(-1).mean() / size,
        cross=off / (4 * size * (size - 1)),
    )
    even, odd = h[..., : 2 * UNITS : 2], h[..., 1 : 2 * UNITS : 2]
    pairs = dict(hix=even[0], hiy=even[1], hkx=odd[0], hky=odd[1])
    return found | {name: values.ravel() for name, values in pairs.items()}
