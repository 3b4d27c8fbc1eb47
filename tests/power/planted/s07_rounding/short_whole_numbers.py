"""An event as a whole number of eight bits, which hold no product above 127. Planted."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "entries of a vector")
seen = numbers(above="one if the first entry is above zero")


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(entries):
    return dict(above=(entries[0] > 0).astype(jnp.int8))


theorem = Theorem(
    place="Nowhere",
    label="derived",
    # One in two draws is 150, the others are 75. In eight bits 150 is -106.
    claims=dict(
        bound=Inequality(75 * (seen.above + 1), at_most=75),
        mean=Expectation(75 * (seen.above + 1), Rational(-31, 2), margin=Absolute(14, 1, "stated"), spread=6),
    ),
    experiments=dict(layer=Experiment(observe, seen, {n: (8, 16)}, draws=2000, subjects={"Gaussian": Subject(build)})),
)
