"""The variance of a uniform number is 1/12."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
square = Measured("square", "mean squared deviation from 1/2")
mean = Expectation(square, Rational(1, 12), margin=Relative(1, 10, "a tenth would matter"))


def build(key, n):
    return jax.random.uniform(key, (n,))


def observe(model, n):
    return dict(square=jnp.mean((model - 0.5) ** 2))


theorem = Theorem(
    label="own",
    claims=dict(mean=mean),
    experiments=dict(e=Experiment(observe, square, {n: 16}, subjects={"model": Subject(build)})),
)
