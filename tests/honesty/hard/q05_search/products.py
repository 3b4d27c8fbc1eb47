"""The Frobenius norm of a product is at most the spectral norm of one factor times that of the other."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "dimension")
left = Measured("left", "norm of the product")
right = Measured("right", "product of the norms")
bound = Inequality(left, at_most=right)


def build(key, n):
    return jax.random.normal(key, (2, n, n))


def observe(model):
    a, b = model
    return dict(left=jnp.linalg.norm(a @ b), right=jnp.linalg.norm(a, ord=2) * jnp.linalg.norm(b))


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(
        observe, (left, right), {n: (5,)}, draws=300, platform="cpu", subjects={"drawn": Subject(build)},
    )),
)  # fmt: skip
