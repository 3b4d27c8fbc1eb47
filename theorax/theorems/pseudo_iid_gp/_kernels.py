"""Two inputs at an angle through one Gaussian layer: what the theorems on kernels of one layer share.

Inputs of unit length with cosine c give pre-activations (u, v) = N(0, [[1, c], [c, 1]]) at every unit; variances k11, k22
are put before them. The kernel of the next layer is F = E phi(u) phi(v), and its derivative in k12 = c sqrt(k11 k22)
is read off the score of the density, which asks nothing of phi.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int
from sympy import Integer, Rational

from theorax.language import Efforts, Experiment, Measured, Parameter, Subject
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp._ensembles import n, width

c = Parameter("c", "cosine of the angle between the two inputs")
k11 = Parameter("k11", "variance of the pre-activations at the first input", positive=True)
k22 = Parameter("k22", "variance of the pre-activations at the second input", positive=True)
kernel = Measured("kernel", "phi(u) phi(v), mean over the units")
slopes = Measured("slopes", "phi'(u) phi'(v), mean over the units")
score = Measured("score", "phi(u) phi(v) times the derivative of the log-density in k12, mean over the units")


class Nonlinearity(IntEnum):
    """The activations of `phi`."""

    RELU, ERF, TANH, SIGN = range(4)


RELU, ERF, TANH, SIGN = Nonlinearity
ANGLES = tuple({c: cosine} for cosine in (Rational(-1, 2), Rational(1, 2), Rational(9, 10)))


class PlanarLayer(eqx.Module):
    """A Gaussian layer with two input coordinates and an activation."""

    weight: Float[Array, "N 2"]
    activation: Int[Array, ""]

    def __call__(self, x: Float[Array, 2]) -> Float[Array, " N"]:
        """Pre-activations."""
        return self.weight @ x


def layer(key: Array, n: Extent, activation: Array, signs: Array) -> PlanarLayer:
    """The layer, its padded units zero; ``signs``: of its normal weights the signs alone."""
    normals = jax.random.normal(named(key, "weights"), (n.padded, 2))
    return PlanarLayer(jnp.where(n.mask[:, None], jnp.where(signs, jnp.sign(normals), normals), 0), activation)


def subject(activation: int, signs: int = 0) -> Subject:
    """The layer with this activation."""
    return Subject(layer, activation=activation, signs=signs)


def observe(net: PlanarLayer, n: Extent, c: Array, k11: Array, k22: Array) -> dict[str, Array]:
    """Products of activations, of their slopes, and of activations with the score in k12."""
    one, other = net(jnp.array([1.0, 0.0])), net(jnp.stack([c, jnp.sqrt(1 - c**2)]))
    u, v = jnp.sqrt(k11) * one, jnp.sqrt(k22) * other
    # log p = -(u'^2 - 2 c u' v' + v'^2)/(2 (1 - c^2)) - log(1 - c^2)/2 + ..., u' = u/sqrt k11, v' = v/sqrt k22.
    rest = 1 - c**2
    gradient = (one * other * (1 + c**2) - c * (one**2 + other**2)) / rest**2 + c / rest
    products = phi(u, net.activation) * phi(v, net.activation)
    found = dict(
        kernel=products,
        slopes=slope(u, net.activation) * slope(v, net.activation),
        score=products * gradient / jnp.sqrt(k11 * k22),
    )
    return {name: jnp.where(n.mask, entries, 0).sum() / width(n) for name, entries in found.items()}


def experiment(subjects: Mapping[str, Subject]) -> Experiment:
    """These activations at three angles, with equal and with unequal variances."""
    variances = ((Integer(1), Integer(1)), (Rational(1, 2), Integer(3)))
    return Experiment(
        padded=True,
        subjects=subjects,
        observe=observe,
        measures=(kernel, slopes, score),
        sweep={n: (256,)},
        at=tuple({**angle, k11: one, k22: other} for angle in ANGLES for one, other in variances),
        draws=Efforts(quick=1000, standard=4000, thorough=20000),
    )


def phi(h: Array, activation: Array) -> Array:
    """The activation at this place: ReLU, erf, tanh, sign."""
    return jax.lax.select_n(activation, jax.nn.relu(h), jax.scipy.special.erf(h), jnp.tanh(h), jnp.sign(h))


def slope(h: Array, activation: Array) -> Array:
    """Derivative of the activation where there is one; zero at the jump of the sign, as automatic differentiation has it."""
    return jax.lax.select_n(
        activation,
        jnp.where(h > 0, 1.0, 0.0),
        2 / jnp.sqrt(jnp.pi) * jnp.exp(-(h**2)),
        1 - jnp.tanh(h) ** 2,
        jnp.zeros_like(h),
    )
