r"""Convolutional networks on a circle of pixels, with random filters of the laws of `weight_matrices.MENU`.

$h^1 = b^1 + U^1 * x$ and $h^{l+1} = b^{l+1} + U^{l+1} * \phi(h^l)$ with
$(U * f)_{i,\mu} = \sum_{j,\beta} U_{i,j,\beta} f_{j,\mu+\beta}$, $\mu + \beta$ taken modulo the number of pixels. The
first filters and all biases are normal; entries have variance $\sigma_w^2$ over the number of channels that they read,
whatever the number of taps.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from theorax.numerics.annotations import Scalar
from theorax.numerics.ensembles import gaussian, haar_rows
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp import _weight_matrices as weight_matrices

__all__ = ["ConvolutionalNetwork", "Filters", "convolution", "convolutional_network"]


class Filters(IntEnum):
    """Laws of the filters of a layer over its taps: tap by tap, a Haar frame, rows of signs of fixed sums."""

    TAP_BY_TAP, FRAME, FIXED_SUMS = range(3)


class ConvolutionalNetwork(eqx.Module):
    """Filters and biases; a number of hidden layers of C channels after the first one."""

    first: Float[Array, "taps C colours"]
    hidden: Float[Array, "layers taps C C"]
    biases: Float[Array, "depth C"]
    activation: Callable[[Array], Array]
    C: Extent

    def __call__(self, x: Float[Array, "colours pixels"]) -> Float[Array, "depth C pixels"]:
        """The pre-activations of every layer."""
        start = convolution(self.first, x) + self.biases[0][:, None]

        def step(h: Array, layer: tuple[Array, Array]) -> tuple[Array, Array]:
            U, b = layer
            after = convolution(U, self.activated(h)) + b[:, None]
            return after, after

        later = jax.lax.scan(step, start, (self.hidden, self.biases[1:]))[1]
        return jnp.concatenate([start[None], later])

    def activated(self, h: Float[Array, "C pixels"]) -> Float[Array, "C pixels"]:
        """The activations, zero in the padding."""
        return jnp.where(self.C.mask[:, None], self.activation(h), 0)


def convolution(U: Float[Array, "taps rows columns"], f: Float[Array, "columns pixels"]) -> Float[Array, "rows pixels"]:
    """U * f on the circle: the tap beta at mu reads the pixel mu + beta."""
    return sum((tap @ jnp.roll(f, -beta, axis=1) for beta, tap in enumerate(U)), jnp.zeros(()))


def convolutional_network(
    key: PRNGKeyArray,
    colours: int,
    taps: int,
    C: Extent,
    hidden: int,
    law: Int[Array, ""] | int,
    share: Scalar,
    activation: Callable[[Array], Array],
    weight_variance: Scalar = 1.0,
    bias_variance: Scalar = 0.0,
    unfolded: Int[Array, ""] | int = Filters.TAP_BY_TAP,
) -> ConvolutionalNetwork:
    """A network whose hidden filters have, tap by tap and independently, the law at this place of `weight_matrices.MENU`.

    ``unfolded``: instead, the C x (taps C) matrix of a layer has a law of its own: `FRAME`, orthonormal rows, a Haar
    frame; `FIXED_SUMS`, the rows of signs of `weight_matrices.conditioned_rademacher`, known up to a sign in their sums.
    """
    sigma = jnp.sqrt(jnp.asarray(weight_variance, jnp.zeros(()).dtype))
    root = jnp.sqrt(jnp.asarray(bias_variance, sigma.dtype))
    first = jax.random.normal(named(key, "first layer"), (taps, C.padded, colours)) * sigma / jnp.sqrt(1.0 * colours)

    def of_law(number: Array) -> Array:
        def tap(beta: Array) -> Array:
            return weight_matrices.weights(named(key, "filters", number, beta), C, jnp.asarray(law), jnp.asarray(share))

        return jax.lax.map(tap, jnp.arange(taps))

    columns_of_all = Extent(taps * C.value, taps * C.padded)

    def frame(number: Array) -> Array:
        return cut(haar_rows(named(key, "frame", number), C, columns_of_all))

    def fixed_sums(number: Array) -> Array:
        return cut(weight_matrices.conditioned_rademacher(named(key, "fixed sums", number), columns_of_all, C))

    def cut(wide: Array) -> Array:
        # The columns of the taps follow one another: tap beta holds the columns beta C to (beta + 1) C.
        columns = jnp.arange(taps)[:, None] * C.value + jnp.arange(C.padded)
        tap_by_tap = jnp.where(C.mask, wide[:, jnp.minimum(columns, taps * C.padded - 1)], 0)
        return jnp.sqrt(1.0 * taps) * jnp.moveaxis(tap_by_tap, 0, 1)

    def layer(number: Array) -> Array:
        return sigma * jax.lax.switch(jnp.asarray(unfolded, int), (of_law, frame, fixed_sums), number)

    filters = jax.lax.map(layer, jnp.arange(hidden))
    biases = root * gaussian(named(key, "biases"), Extent(hidden + 1, hidden + 1), C)
    return ConvolutionalNetwork(jnp.where(C.mask[:, None], first, 0), filters, biases, activation, C)
