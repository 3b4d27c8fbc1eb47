"""Functions taken where they have no real value; what is no number is dropped without a word."""

import jax
import jax.numpy as jnp
from sympy import Le, Rational

from theorax.language import *

n = Size("n", "number of entries")
seen = numbers(
    root="the mean of the square roots of normal numbers",
    active="the mean of relu(z) / relu(z)",
    top="the largest logarithm of a normal number",
    angle="the mean angle between directions, by the arc cosine of a product that is not normalised",
)
sides = arrays(summed="the sum of the logarithms", meant="the sum of the logarithms of the positive entries")

H = hypotheses(any=Hypothesis("entries are independent and normal", unbroken="nothing else is meant"))
# No mean of square roots exists: half of the numbers are negative.
rooted = Expectation(
    seen.root, Rational(8222, 10000), margin=Relative(1, 20, "the mean over the positive half"), spread=Rational(1, 10)
)
# 0/0 is none: the mean over the active units is one.
halved = Expectation(seen.active, Rational(1, 2), margin=Relative(1, 20, "half"), spread=Rational(1, 5))
largest = Inequality(seen.top, at_most=2, content=Rational(1, 50))
turned = Probability(Le(seen.angle, 3), 1, margin=Absolute(1, 50, "one draw in fifty"))
same = Identity(sides.summed, sides.meant, margin=Absolute(1, 10**6, "rounding"))


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(z, n):
    return dict(
        root=jnp.nanmean(jnp.sqrt(z)),
        active=jnp.mean(jnp.nan_to_num(jax.nn.relu(z) / jax.nn.relu(z))),
        top=jnp.nanmax(jnp.log(z)),
        angle=jnp.nanmean(jnp.arccos(z)),
    )


def compare(z, n):
    return dict(summed=jnp.nansum(jnp.log(z)), meant=jnp.sum(jnp.where(z > 0, jnp.log(jnp.abs(z)), 0)))


theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=dict(rooted=rooted, halved=halved, largest=largest, turned=turned, same=same),
    experiments=dict(
        means=Experiment(observe, seen, {n: 64}, draws=300, subjects={"normal": Subject(build)}),
        sums=Experiment(compare, sides, {n: 8}, draws=4, subjects={"normal": Subject(build)}),
    ),
)
