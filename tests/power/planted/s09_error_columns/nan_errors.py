"""An event that only a bound of an error can make true: x is one half in every draw, and is said never to be."""

import jax
import jax.numpy as jnp
from sympy import Ne, Rational

from theorax.language import *

n = Size("n", "not used")
x = Measured("x", "one half and a little noise that is rounded away")


def build(key, n):
    return jax.random.normal(key)


def observe(z):
    return dict(x=0.5 + 0 * z, x_error=jnp.nan + 0 * z)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(apart=Probability(Ne(x, Rational(1, 2)), at_least=Rational(9, 10), margin=Absolute(1, 20, "round"))),
    experiments=dict(half=Experiment(observe, x, {n: 4}, draws=400, subjects={"half": Subject(build)})),
)
