"""One key in every turn of a loop, carried and not split: all steps of a walk are one."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "steps")
end = Measured("end", "square of the end of the walk", positive=True)
CLASS = Corrections(size=0.05, slowest=1, reason="wider than what is claimed needs")


def build(key, n):
    def step(carry, _):
        key, x = carry
        return (key, x + jax.random.normal(key)), None

    return jax.lax.scan(step, (key, jnp.zeros(())), None, length=n)[0][1]


def observe(x):
    return dict(end=x**2)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(ballistic=Rate(end, n**2, as_=n, approach=CLASS, margin=Absolute(1, 4, "n is one away"), spread=3)),
    experiments=dict(walk=Experiment(observe, end, {n: (8, 16, 33)}, draws=1500, subjects={"walk": Subject(build)})),
)
