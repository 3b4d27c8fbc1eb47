"""The bound of an error is the root of a residual that falls below zero in a few draws; the letter is scaled wrongly."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "number of steps")
x = Measured("x", "a solution")
CLASS = Corrections(size=0.005, slowest=1, reason="the law is that claimed at every size")


def build(key, n):
    return jax.random.normal(key, (2,))


def observe(z):
    return dict(x=1.2 * z[0], x_error=jnp.sqrt(2 + z[1]))


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(narrow=Law(x, gaussian(1), as_=n, approach=CLASS)),
    experiments=dict(draws=Experiment(observe, x, {n: (4, 8, 16)}, draws=1500, subjects={"normal": Subject(build)})),
)
