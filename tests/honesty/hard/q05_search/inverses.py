"""A matrix times its inverse is the identity up to rounding, also where it is nearly singular."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "dimension")
left = Measured("left", "distance from the identity")
right = Measured("right", "a millionth of the condition")
bound = Inequality(left, at_most=right)


def build(key, n):
    return jax.random.normal(key, (n, n))


def observe(model):
    inverse = jnp.linalg.inv(model)
    scale = jnp.linalg.norm(model) * jnp.linalg.norm(inverse)
    return dict(left=jnp.linalg.norm(model @ inverse - jnp.eye(len(model))), right=1e-6 * scale)


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(
        observe, (left, right), {n: (4,)}, draws=300, platform="cpu", subjects={"drawn": Subject(build)},
    )),
)  # fmt: skip
