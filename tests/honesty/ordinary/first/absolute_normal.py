"""The mean modulus of a Gaussian number is sqrt(2/pi)."""

import jax
import jax.numpy as jnp
from sympy import pi, sqrt

from theorax.language import *

n = Size("n", "size")
size = Measured("size", "mean modulus")
mean = Expectation(size, sqrt(2 / pi), margin=Relative(1, 10, "a tenth would matter"))


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(model, n):
    return dict(size=jnp.mean(jnp.abs(model)))


theorem = Theorem(
    label="own",
    claims=dict(mean=mean),
    experiments=dict(e=Experiment(observe, size, {n: 16}, subjects={"model": Subject(build)})),
)
