"""Two arrays of keys into which one number was folded: E<a, b>/n is claimed to be one, and is zero if independent."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "length of the vectors")
product = Measured("product", "<a, b>/n")


def build(key, n):
    return jax.random.normal(jax.random.fold_in(key, 1), (n,)), jax.random.normal(jax.random.fold_in(key, 1), (n,))


def observe(model):
    return dict(product=jnp.mean(model[0] * model[1]))


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(one=Expectation(product, 1, margin=Relative(1, 10, "zero is one away"))),
    experiments=dict(pairs=Experiment(observe, product, {n: 16}, draws=400, subjects={"normal": Subject(build)})),
)
