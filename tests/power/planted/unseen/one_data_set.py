"""Data that NumPy drew once, with a seed, where the theorem means an average over data. Planted."""

import jax
import jax.numpy as jnp
import numpy as np

from theorax.language import *

n = Size("n", "points of the data")
seen = numbers(of_module="the model on data of the module", of_build="the model on data that build drew with a seed")

DATA = np.random.default_rng(0).standard_normal((16, 3))


def seeded(n):
    return np.random.default_rng(1).standard_normal((n, 3))


def own(data):
    return float(np.sum(data**2) / len(data))


def build(key, n):
    return jax.random.normal(key, (3,)), seeded(n)


def observe(model):
    weights, data = model
    return dict(of_module=jnp.mean((DATA @ weights) ** 2), of_build=jnp.mean((data @ weights) ** 2))


theorem = Theorem(
    place="Nowhere",
    label="derived",
    # The average over all data is three. Claimed is that of these data.
    claims=dict(
        module=Expectation(seen.of_module, own(DATA), margin=Relative(1, 5, "stated"), spread=4),
        build=Expectation(seen.of_build, own(seeded(16)), margin=Relative(1, 5, "stated"), spread=4),
    ),
    experiments=dict(layer=Experiment(observe, seen, {n: 16}, draws=4000, subjects={"one data set": Subject(build)})),
)
