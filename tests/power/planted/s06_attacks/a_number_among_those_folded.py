"""Rows of a matrix, each of the key of its number, and a vector of the key of one of the numbers."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "length of the vectors")
product = Measured("product", "<a, b>/n")


def build(key, n):
    rows = jax.vmap(lambda row: jax.random.normal(jax.random.fold_in(key, row), (n,)))(jnp.arange(3))
    return rows[2], jax.random.normal(jax.random.fold_in(key, 2), (n,))


def observe(model):
    return dict(product=jnp.mean(model[0] * model[1]))


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(one=Expectation(product, 1, margin=Relative(1, 10, "zero is one away"))),
    experiments=dict(pairs=Experiment(observe, product, {n: 16}, draws=400, subjects={"normal": Subject(build)})),
)
