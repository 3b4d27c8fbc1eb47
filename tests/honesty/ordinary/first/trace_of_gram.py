"""The mean diagonal entry of W^T W / n is 1."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "size")
diagonal = Measured("diagonal", "mean diagonal entry")
mean = Expectation(diagonal, 1, margin=Relative(1, 10, "a tenth would matter"))


def build(key, n):
    return jax.random.normal(key, (n, n))


def observe(model, n):
    return dict(diagonal=jnp.trace(model.T @ model) / n**2)


theorem = Theorem(
    label="own",
    claims=dict(mean=mean),
    experiments=dict(e=Experiment(observe, diagonal, {n: 16}, subjects={"model": Subject(build)})),
)
