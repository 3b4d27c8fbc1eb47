"""No entry of a vector is larger than .8 of its norm."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "dimension")
left = Measured("left", "largest entry")
right = Measured("right", ".8 of the norm")
bound = Inequality(left, at_most=right)


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(model):
    return dict(left=jnp.max(jnp.abs(model)), right=0.8 * jnp.linalg.norm(model))


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(
        observe, (left, right), {n: (32,)}, draws=300, platform="cpu", subjects={"drawn": Subject(build)},
    )),
)  # fmt: skip
