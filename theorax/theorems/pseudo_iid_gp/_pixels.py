"""A convolutional network on a circle of pixels and its Gaussian limit: the kernel over pairs of places."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from jaxtyping import Float as Floats
from sympy import Float, Function

from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp._convolutional import (
    ConvolutionalNetwork,
    convolution,
    convolutional_network,
)
from theorax.theorems.pseudo_iid_gp._ensembles import width
from theorax.theorems.pseudo_iid_gp._limit import RELU, Activated, halves, narrowed, rare_signs, shared, tied_sums
from theorax.theorems.pseudo_iid_gp._process import HIDDEN

TAPS, PIXELS = 3, 8
IMAGES = np.array(
    [[[2, -1, 0, 1, 1, 0, -2, 1], [0, 1, 1, -1, 0, 2, 0, 1]], [[1, 1, 0, -1, 2, 0, 1, -1], [1, 0, -1, 2, 0, 1, 1, 0]]]
)
# Places are pixels of the first image, and from 8 on of the second.
PAIRS = ((0, 0), (0, 1), (0, 2), (0, 4), (3, 6), (0, 10), (10, 10))
FIRST, BOTH, SECOND = 1, 6, 7


class PixelKernel(Function):
    """K(l, pair, phi, sw2, sb2, shift): the kernel of layer l at a pair of places, to double precision.

    ``shift``: one for the sum over taps; zero for the sum over the pixels that the two patches share.
    """

    nargs = 6

    @classmethod
    def eval(cls, *given: Any) -> Any:
        if not all(value.is_number for value in given):
            return None
        l, number, activation, weight, bias, shift = given
        a, b = PAIRS[(int(number) - 1) % len(PAIRS)]
        return Float(limit(int(l), int(activation), float(weight), float(bias), bool(shift))[a, b])


@lru_cache(maxsize=256)
def limit(l: int, activation: int, weight: float, bias: float, shift: bool) -> np.ndarray:
    """The kernel of layer l at all pairs of places."""
    if l == 1:
        flat = np.moveaxis(IMAGES, 1, 0).reshape(IMAGES.shape[1], -1)
        inner = flat.T @ flat / len(flat)
    else:
        inner = products(activation, limit(l - 1, activation, weight, bias, shift))
    parts = inner.reshape(2, PIXELS, 2, PIXELS)
    if shift:
        total: Any = sum(np.roll(parts, (-beta, -beta), (1, 3)) for beta in range(TAPS))
    else:
        reads = np.array([[(pixel - place) % PIXELS < TAPS for pixel in range(PIXELS)] for place in range(PIXELS)])
        total = np.einsum("mp,np,ipjp->imjn", reads, reads, parts)
    return bias + weight * total.reshape(inner.shape)


def products(activation: int, K: np.ndarray) -> np.ndarray:
    """E phi(u) phi(v) at all pairs of places: arc-cosine or arcsine."""
    q = np.diagonal(K)
    if activation == RELU:
        c = np.clip(K / np.sqrt(np.outer(q, q)), -1, 1)
        return np.sqrt(np.outer(q, q)) * (np.sqrt(1 - c**2) + c * (np.pi - np.arccos(c))) / (2 * np.pi)
    return 1 / 4 + np.arcsin(K / np.sqrt(np.outer(1 + q, 1 + q))) / (2 * np.pi)


class ConvolutionalReadout(eqx.Module):
    """A convolutional network with two Gaussian output channels."""

    body: ConvolutionalNetwork
    readout: Floats[Array, "taps 2 C"]
    bias: Floats[Array, " 2"]

    def __call__(self, x: Floats[Array, "colours pixels"]) -> tuple[Array, Array, Array]:
        """Pre-activations and activations of the last hidden layer, and the outputs."""
        h = self.body(x)[-1]
        f = self.body.activated(h)
        return h, f, convolution(self.readout, f) + self.bias[:, None]


def network(
    key: Array,
    C: Extent,
    law: Array,
    share: Array,
    activation: Array,
    sw2: Array,
    sb2: Array,
    unfolded: Array,
    tied: Array,
    signs: Array,
    one_bias: Array,
    row_sums: Array,
    one_way: Array,
    kept: Array,
    one_sum: Array,
) -> ConvolutionalReadout:
    """All layers drawn. ``tied``: all taps of a hidden layer have the same entries; the rest as for layers of units."""
    letters: dict[str, Any] = dict(activation=Activated(activation), weight_variance=sw2, bias_variance=sb2)
    colours = IMAGES.shape[1]
    body = convolutional_network(key, colours, TAPS, C, HIDDEN - 1, law, share, unfolded=unfolded, **letters)
    first = rare_signs(named(key, "rare signs"), body.first, signs, sw2 / colours)
    filters = tied_sums(named(key, "sums"), jnp.where(tied, body.hidden[:, :1], body.hidden), C, one_sum)
    filters = filters * narrowed(C, kept)[:, None, None] * halves(C, one_way)
    sums = body.biases.at[1:].set(jnp.sqrt(sb2 / (TAPS * sw2)) * filters.sum((1, -1)))
    biases = shared(jnp.where(row_sums, sums, body.biases), one_bias, C)
    body = ConvolutionalNetwork(first, filters, biases, body.activation, C)
    readout = jnp.sqrt(sw2 / width(C)) * jax.random.normal(named(key, "readout"), (TAPS, 2, C.padded))
    bias = jax.random.normal(named(key, "output biases"), (2,))
    return ConvolutionalReadout(body, readout, jnp.sqrt(sb2) * jnp.where(one_bias, bias[0], bias))
