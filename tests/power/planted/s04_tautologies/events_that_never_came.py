"""Two events of which neither came in any draw: zero is at most zero, whatever the one has to do with the other. Planted."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "entries of a vector")
seen = numbers(far="one if an entry lies beyond nine", deep="one if all entries lie beyond three")


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(entries):
    return dict(far=jnp.any(entries > 9.0), deep=jnp.all(entries > 3.0))


theorem = Theorem(
    place="Nowhere",
    label="derived",
    # The other way around would be true: three is less than nine.
    claims=dict(
        implied=Inequality(seen.far, at_most=seen.deep),
        scaled=Inequality(seen.far, at_most=seen.deep / 2),
        likely=Probability(seen.far <= seen.deep, 1),
    ),
    experiments=dict(layer=Experiment(observe, seen, {n: (8, 16)}, draws=2000, subjects={"Gaussian": Subject(build)})),
)
