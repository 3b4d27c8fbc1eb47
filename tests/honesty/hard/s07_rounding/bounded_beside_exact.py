"""Two means, of which observe bounds the error of one alone."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "number of entries")
seen = numbers(cut="a mean of squares, cut to three digits", whole="the same mean")


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(x):
    mean = jnp.mean(x**2)
    return dict(cut=jnp.round(mean, 3), cut_error=0.0005, whole=mean)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        both=Expectation(seen.cut + seen.whole, 2, margin=Relative(1, 10, "stated"), spread=2),
        one=Expectation(seen.whole, 1, margin=Relative(1, 10, "stated"), spread=1),
    ),
    experiments=dict(entries=Experiment(observe, seen, {n: 16}, draws=2000, subjects={"normal": Subject(build)})),
)
