"""Attention moves apart no more than n times what its tokens do."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "tokens")
left = Measured("left", "distance of the outputs")
right = Measured("right", "n times that of the tokens")
bound = Inequality(left, at_most=right)


def build(key, n):
    return jax.random.normal(key, (2, n, 3))


def observe(model):
    def attend(x):
        return jax.nn.softmax(x @ x.T, axis=-1) @ x

    x, y = model
    return dict(left=jnp.linalg.norm(attend(x) - attend(y)), right=len(x) * jnp.linalg.norm(x - y))


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(
        observe, (left, right), {n: (8,)}, draws=300, platform="cpu", subjects={"drawn": Subject(build)},
    )),
)  # fmt: skip
