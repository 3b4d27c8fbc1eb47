"""One data set for all draws: the largest of its numbers is said to be at most two."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "numbers")
largest = Measured("largest", "the largest fit")


def build(key, n):
    data = jax.random.normal(jax.random.PRNGKey(7), (n,))
    return data * jax.random.uniform(key)


def observe(x):
    return dict(largest=jnp.max(x))


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(bounded=Inequality(largest, at_most=2)),
    experiments=dict(sets=Experiment(observe, largest, {n: 8}, draws=400, subjects={"normal": Subject(build)})),
)
