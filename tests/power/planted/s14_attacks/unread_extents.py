"""A padded size whose mask is forgotten: one program serves all sizes, and each computes the same in it."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "width of the network that was meant")
output = Measured("output", "output of the network")
CLASS = Corrections(size=0.05, slowest=1, reason="wider than what is claimed needs")


def build(key, n):
    return jax.random.normal(key, (n.padded,)) / jnp.sqrt(float(n.padded))


def observe(weights):
    return dict(output=jnp.sum(weights))


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(mean=Limit(output, as_=n, to=0, margin=Absolute(1, 4, "a quarter"), approach=CLASS, spread=1)),
    experiments=dict(
        network=Experiment(
            observe, output, {n: (33, 48, 65)}, draws=4000, padded=True, subjects={"padding": Subject(build)}
        )
    ),
)
