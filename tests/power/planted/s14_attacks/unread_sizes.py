"""A size that build takes and uses for nothing: every size is one experiment, of which no limit can be read."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "width of the network that was meant")
output = Measured("output", "output of the network")
CLASS = Corrections(size=0.05, slowest=1, reason="wider than what is claimed needs")


def build(key, n):
    one, two = jax.random.split(key)
    jax.random.normal(one, (n,))  # features that were forgotten
    return jax.random.normal(two, (8,))


def observe(weights):
    return dict(output=jnp.sum(weights) / jnp.sqrt(8.0))


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        mean=Limit(output, as_=n, to=0, margin=Absolute(1, 4, "a quarter"), approach=CLASS, spread=1),
        square=Limit(output**2, as_=n, to=1, margin=Absolute(1, 2, "a half"), approach=CLASS, spread=2),
        law=Law(output, gaussian(1), as_=n, approach=CLASS, excludes=(gaussian(2),)),
    ),
    experiments=dict(
        network=Experiment(observe, output, {n: (16, 33, 65)}, draws=4000, subjects={"one width": Subject(build)})
    ),
)
