"""Two arrays in each turn of a loop, of keys into which the number of the turn was folded."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "length of the vectors")
product = Measured("product", "<a, b>/n")


def build(key, n):
    def step(sums, row):
        own = [jax.random.normal(jax.random.fold_in(key, row), (n,)) for _ in range(2)]
        return (sums[0] + own[0] / 2, sums[1] + own[1] / 2), None

    return jax.lax.scan(step, (jnp.zeros(n), jnp.zeros(n)), jnp.arange(4))[0]


def observe(model):
    return dict(product=jnp.mean(model[0] * model[1]))


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(one=Expectation(product, 1, margin=Relative(1, 10, "zero is one away"))),
    experiments=dict(pairs=Experiment(observe, product, {n: 16}, draws=400, subjects={"normal": Subject(build)})),
)
