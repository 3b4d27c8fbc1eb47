"""The stable rank of a sum is at most the sum of the stable ranks."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "dimension")
left = Measured("left", "stable rank of the sum")
right = Measured("right", "sum of the stable ranks")
bound = Inequality(left, at_most=right)


def build(key, n):
    return jax.random.normal(key, (2, n, n))


def observe(model):
    def rank(a):
        values = jnp.linalg.svd(a, compute_uv=False)
        return jnp.sum(values**2) / values[0] ** 2

    a, b = model
    return dict(left=rank(a + b), right=rank(a) + rank(b))


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(
        observe, (left, right), {n: (8,)}, draws=300, platform="cpu", subjects={"drawn": Subject(build)},
    )),
)  # fmt: skip
