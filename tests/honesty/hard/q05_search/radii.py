"""The spectral radius is at most the spectral norm: near equality eigenvalues are sensitive to rounding."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "dimension")
left = Measured("left", "spectral radius")
right = Measured("right", "spectral norm")
bound = Inequality(left, at_most=right)


def build(key, n):
    return jax.random.normal(key, (n, n))


def observe(model):
    return dict(left=jnp.max(jnp.abs(jnp.linalg.eigvals(model))), right=jnp.linalg.norm(model, ord=2))


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(
        observe, (left, right), {n: (8,)}, draws=300, platform="cpu", subjects={"drawn": Subject(build)},
    )),
)  # fmt: skip
