"""Two networks that share their weights by name differ by what is added to one of them."""

import jax
import jax.numpy as jnp

from theorax.language import *
from theorax.numerics.keys import named

n = Size("n", "dimension")
left = Measured("left", "distance of the networks")
right = Measured("right", "norm of what is added")
bound = Inequality(left, at_most=right)


def build(key, n):
    return [jax.random.normal(named(key, name), (n,)) for name in ("W", "W", "x")]


def observe(model):
    one, other, added = model
    return dict(left=jnp.linalg.norm(one - other + added / 2), right=jnp.linalg.norm(added))


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(
        observe, (left, right), {n: (6,)}, draws=300, platform="cpu", subjects={"drawn": Subject(build)},
    )),
)  # fmt: skip
