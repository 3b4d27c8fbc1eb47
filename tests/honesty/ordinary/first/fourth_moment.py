"""The fourth moment of a Gaussian number is 3."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "size")
z4 = Measured("z4", "mean of fourth powers")
mean = Expectation(z4, 3, margin=Relative(1, 10, "a tenth would matter"))


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(model, n):
    return dict(z4=jnp.mean(model**4))


theorem = Theorem(
    label="own",
    claims=dict(mean=mean),
    experiments=dict(e=Experiment(observe, z4, {n: 16}, draws=2000, subjects={"model": Subject(build)})),
)
