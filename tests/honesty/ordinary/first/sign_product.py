"""The product of two independent signs has mean 0."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "size")
product = Measured("product", "mean product")
mean = Expectation(product, 0, margin=Absolute(1, 50, "a fiftieth would matter"))


def build(key, n):
    return jax.random.rademacher(key, (2, n), dtype=jnp.float64)


def observe(model, n):
    return dict(product=jnp.mean(model[0] * model[1]))


theorem = Theorem(
    label="own",
    claims=dict(mean=mean),
    experiments=dict(e=Experiment(observe, product, {n: 16}, draws=2000, subjects={"model": Subject(build)})),
)
