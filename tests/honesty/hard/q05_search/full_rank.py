"""A Gaussian matrix has full rank: it fails on a set of probability zero, which sparse starts hit."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "dimension")
left = Measured("left", "n times the norm")
right = Measured("right", "rank times the norm")
bound = Inequality(left, at_most=right)


def build(key, n):
    return jax.random.normal(key, (n, n))


def observe(model):
    size = jnp.linalg.norm(model)
    return dict(left=len(model) * size, right=jnp.linalg.matrix_rank(model) * size)


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(
        observe, (left, right), {n: (4,)}, draws=300, platform="cpu", subjects={"drawn": Subject(build)},
    )),
)  # fmt: skip
