"""A half-normal number is not negative: a search must not leave the range of its sampler."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "dimension")
left = Measured("left", "minus the least number")
right = Measured("right", "a thousandth of the largest")
bound = Inequality(left, at_most=right)


def build(key, n):
    return jnp.abs(jax.random.normal(key, (n,)))


def observe(model):
    return dict(left=-jnp.min(model), right=1e-3 * jnp.max(model))


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(
        observe, (left, right), {n: (6,)}, draws=300, platform="cpu", subjects={"drawn": Subject(build)},
    )),
)  # fmt: skip
