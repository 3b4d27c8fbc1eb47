"""Softmax is Lipschitz in the Euclidean norm, with constant 1/2."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "dimension")
left = Measured("left", "distance of the outputs")
right = Measured("right", "half of that of the inputs")
bound = Inequality(left, at_most=right)


def build(key, n):
    return jax.random.normal(key, (2, n))


def observe(model):
    x, y = model
    return dict(left=jnp.linalg.norm(jax.nn.softmax(x) - jax.nn.softmax(y)), right=jnp.linalg.norm(x - y) / 2)


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(
        observe, (left, right), {n: (16,)}, draws=300, platform="cpu", subjects={"drawn": Subject(build)},
    )),
)  # fmt: skip
