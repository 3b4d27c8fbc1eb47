"""Minima given as exactly as doubles can, identities across a pole and a pivot."""

import math
from fractions import Fraction

import jax
import jax.numpy as jnp

from theorax import exact

TWO = jax.ShapeDtypeStruct((2, 2), float)


def third(seed):
    return exact.minimum(lambda v: jnp.sum((3 * v - 1) ** 2), [Fraction(1, 3), 1 / 3])


def irrational(seed):
    return exact.minimum(lambda v: (v[0] ** 2 - 2) ** 2, [math.sqrt(2)])


def found_by_a_descent(seed):
    """Half of the digits of a double are what a descent on values gives."""
    return exact.minimum(lambda v: jnp.cosh(v[0] - 1) + v[1] ** 2, [1 + 1e-9, -1e-9])


def with_a_rule_that_lies(seed):
    """The value is least at zero, whatever its rule says."""
    bowl = jax.custom_jvp(lambda v: jnp.sum(v**2))
    bowl.defjvp(lambda p, t: (jnp.sum(p[0] ** 2), 2 * (p[0] - 1) @ t[0]))
    return exact.minimum(bowl, [0, 0])


def adjugate(seed):
    return exact.identity(
        lambda a: jnp.linalg.det(a) * jnp.linalg.inv(a),
        lambda a: jnp.trace(a) * jnp.eye(2) - a,
        TWO,
    )


def touching_form(seed):
    return exact.certify(lambda x, y: x**2 - 2 * x * y + y**2, {"x": (-1, 1), "y": (-1, 1)})
