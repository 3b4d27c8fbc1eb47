"""A deep network and its Gaussian limit: the kernel from layer to layer, in closed form where there is one.

Layer by layer K' = sigma_b^2 + sigma_w^2 F(K), F(K) = E phi(u) phi(v) with (u, v) = N(0, K): the arc-cosine kernel for
ReLU, an arcsine for the normal distribution function (erf_arcsine_kernel, moved and scaled), a quadrature for tanh.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int
from jaxtyping import Float as Floats
from sympy import Expr, Float, Function, Integer, Rational, acos, asin, pi, sqrt, sympify

from theorax.language import Parameter
from theorax.numerics.extents import Extent, literal
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp._ensembles import width
from theorax.theorems.pseudo_iid_gp._normal_pairs import mean_of_product
from theorax.theorems.pseudo_iid_gp._process import HIDDEN
from theorax.theorems.pseudo_iid_gp._wide_networks import DeepNetwork, deep_network


class DeepActivation(IntEnum):
    """The activations of `activated`: ReLU, the normal distribution function, tanh."""

    RELU, PHI, TANH = range(3)


RELU, PHI, TANH = DeepActivation
phi = Parameter(
    "phi", "place of the activation: ReLU, normal distribution function, tanh", integer=True, nonnegative=True
)
sw2 = Parameter("sw2", "sigma_w^2", positive=True)
sb2 = Parameter("sb2", "sigma_b^2", nonnegative=True)


def activated(h: Array, activation: Array) -> Array:
    """phi(h) for the activation at this place."""
    return jax.lax.select_n(activation, jax.nn.relu(h), jax.scipy.stats.norm.cdf(h), jnp.tanh(h))


class Activated(eqx.Module):
    """phi as a value: a function that closed over its place would tie the model to one subject."""

    place: Int[Array, ""]

    def __call__(self, h: Array) -> Array:
        return activated(h, self.place)


def F(activation: Any, q: Any, k: Any) -> Expr:
    """E phi(u) phi(v), u and v of variance q and covariance k; a number for tanh, exact otherwise."""
    q, k = sympify(q), sympify(k)
    if int(activation) == RELU:
        c = k / q
        return q * (sqrt(1 - c**2) + c * (pi - acos(c))) / (2 * pi)
    if int(activation) == PHI:
        return Rational(1, 4) + asin(k / (1 + q)) / (2 * pi)
    return Float(mean_of_product(np.tanh, float(q), float(q), float(k)))


class Kernel(Function):
    """K(l, phi, sw2, sb2, c): the kernel of layer l at two inputs of length sqrt(N_0) and cosine c.

    Evaluated where everything is a number, to thirty digits (those of a double for tanh).
    """

    nargs = 5

    @classmethod
    def eval(cls, l: Any, phi: Any, sw2: Any, sb2: Any, c: Any) -> Any:
        if not all(value.is_number for value in (l, phi, sw2, sb2, c)) or not l >= 1:
            return None
        return kernel(int(l), int(phi), sw2, sb2, c, digits=30)


@lru_cache(maxsize=4096)
def kernel(l: int, activation: int, sw2: Expr, sb2: Expr, c: Expr, digits: int = 0) -> Expr:
    """The same as an expression; rounded layer by layer to these digits, if any."""
    if l == 1:
        return sb2 + sw2 * c
    q, k = (kernel(l - 1, activation, sw2, sb2, cosine, digits) for cosine in (Integer(1), c))
    found = sb2 + sw2 * F(activation, q, k)
    return found.evalf(digits) if digits else found


class DeepReadout(eqx.Module):
    """A deep network with two Gaussian outputs, which are Gaussian given the layers before."""

    body: DeepNetwork
    readout: Floats[Array, "2 N"]
    bias: Floats[Array, " 2"]

    def __call__(
        self, x: Floats[Array, " features"]
    ) -> tuple[Floats[Array, "depth N"], Floats[Array, " N"], Floats[Array, " 2"]]:
        """Pre-activations of all layers, the last activations, and the outputs."""
        h = self.body(x)
        last = jnp.where(self.body.n.mask, self.body.activation(h[-1]), 0)
        return h, last, self.readout @ last + self.bias


def network(
    key: Array,
    n: Extent,
    law: Array,
    share: Array,
    activation: Array,
    sw2: Array,
    sb2: Array,
    signs: Array,
    one_bias: Array,
    row_sums: Array,
    one_way: Array,
    kept: Array,
    one_sum: Array,
) -> DeepReadout:
    """All layers drawn; ``signs``, ``one_bias``, ``one_way``, ``kept``: see `rare_signs`, `shared`, `halves`, `narrowed`.

    ``one_sum``: see `tied_sums`.

    ``row_sums``: the bias of a unit is the sum of its row of weights, of the variance that biases have.
    """
    letters: dict[str, Any] = dict(activation=Activated(activation), weight_variance=sw2, bias_variance=sb2)
    body = deep_network(key, 4, n, literal(HIDDEN), law, share, **letters)
    first = rare_signs(named(key, "rare signs"), body.first, signs, sw2 / 4)
    sums = body.biases.at[1:].set(jnp.sqrt(sb2 / sw2) * body.hidden.sum(-1))
    biases = shared(jnp.where(row_sums, sums, body.biases), one_bias, n)
    hidden = tied_sums(named(key, "sums"), body.hidden, n, one_sum) * narrowed(n, kept)[:, None] * halves(n, one_way)
    body = DeepNetwork(first, hidden, biases, body.activation, n, body.depth)
    readout, bias = (
        jax.random.normal(named(key, name), shape)
        for name, shape in (("readout", (2, n.padded)), ("output biases", (2,)))
    )
    bias = jnp.sqrt(sb2) * jnp.where(one_bias, bias[0], bias)
    return DeepReadout(body, jnp.sqrt(sw2 / width(n)) * readout, bias)


def rare_signs(key: Array, normals: Array, share: Array, variance: Array) -> Array:
    """Signs in the place of normal weights of this variance, this share of them not zero; the normals if it is zero."""
    found = jax.random.bernoulli(key, share, normals.shape)
    return jnp.where(
        share > 0, jnp.where(found, jnp.sign(normals), 0) * jnp.sqrt(variance / jnp.where(share > 0, share, 1)), normals
    )


def shared(biases: Floats[Array, "depth N"], one_bias: Array, n: Extent) -> Floats[Array, "depth N"]:
    """The biases; those of the first unit for all units of a layer if ``one_bias``."""
    return jnp.where(one_bias & n.mask, biases[:, :1], biases)


def halves(n: Extent, one_way: Array) -> Floats[Array, "N N"]:
    """Factors for weights: from the second half of the units to the first alone, as much in all; ones if not ``one_way``."""
    first = 2 * jnp.arange(n.padded) < n.value
    return jnp.where(one_way, 2.0 * (first[:, None] & ~first), 1)


def tied_sums(key: Array, hidden: Floats[Array, "layers *taps N N"], n: Extent, one_sum: Array) -> Array:
    """Weights whose sums of rows all vanish in a layer, or are all multiplied by sqrt 2, one or the other by chance.

    Entries stay uncorrelated, of their variance, and two columns tell nothing of it in the limit. The weights as they
    are if not ``one_sum``.
    """
    twice = jax.random.bernoulli(key, shape=(len(hidden), *(1,) * (hidden.ndim - 1)))
    mean = jnp.where(n.mask, hidden.sum(-1, keepdims=True) / width(n), 0)
    return hidden + jnp.where(one_sum, jnp.where(twice, jnp.sqrt(2.0) - 1, -1), 0) * mean


def narrowed(n: Extent, kept: Array) -> Floats[Array, "2 N"]:
    """Factors for what two hidden layers read: a bottleneck of ``kept`` units before the second one; ones if zero."""
    narrow = jnp.where(jnp.arange(n.padded) < kept, jnp.sqrt(width(n) / jnp.maximum(kept, 1)), 0)
    return jnp.stack([jnp.ones(n.padded), jnp.where(kept > 0, narrow, 1)])
