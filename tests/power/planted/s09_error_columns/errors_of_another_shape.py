"""A bound of an error for each input, where one number was measured: a mean is said to be a tenth off."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "inputs")
x = Measured("x", "mean of uniform numbers")
CLASS = Corrections(size=0.05, slowest=1, reason="wider than what is claimed needs")


def build(key, n):
    return jax.random.uniform(key, (n,))


def observe(z):
    return dict(x=jnp.mean(z), x_error=jnp.abs(z))


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(mean=Limit(x, 0.6, as_=n, approach=CLASS, margin=Relative(1, 20, "a half is a sixth away"))),
    experiments=dict(means=Experiment(observe, x, {n: (4, 8, 16)}, draws=400, subjects={"uniform": Subject(build)})),
)
