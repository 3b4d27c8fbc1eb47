"""Rules that hold for most inputs and were tried on four."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "number of entries")
seen = arrays(
    relu="positive parts",
    clipped="positive parts, at most 5/2",
    size="largest absolute value",
    bounded="largest absolute value, at most 3",
    unit="the vector over its length, where that is above 1/2",
    scaled="the vector over its length",
    first="the first entry of the sorted vector",
    least="the least entry that is above -5/2",
    saturated="tanh, one beyond 5/2",
    tanh="tanh",
    spaced="entries as they are where two differ by more than 1/100",
    same="entries",
)
MARGIN = Relative(1, 10**6, "rounding stays below it")


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(x):
    length = jnp.sqrt(jnp.sum(x**2))
    gap = jnp.abs(x[0] - x[1])
    return dict(
        relu=jnp.maximum(x, 0),
        clipped=jnp.clip(x, 0, 2.5),
        size=jnp.max(jnp.abs(x)),
        bounded=jnp.minimum(jnp.max(jnp.abs(x)), 3),
        unit=x / jnp.maximum(length, 0.5),
        scaled=x / length,
        first=jnp.sort(x)[0],
        least=jnp.min(jnp.maximum(x, -2.5)),
        saturated=jnp.where(jnp.abs(x) > 2.5, jnp.sign(x), jnp.tanh(x)),
        tanh=jnp.tanh(x),
        spaced=jnp.where(gap > 0.01, x, 2 * x),
        same=1 * x,
    )


def equal(one, other, **others):
    return Identity(one, other, under=(), margin=MARGIN, **others)


few = dict(
    clipped=equal(seen.relu, seen.clipped, on="few"),
    bounded=equal(seen.size, seen.bounded, on="few"),
    unit=equal(seen.unit, seen.scaled, on="few"),
    least=equal(seen.first, seen.least, on="few"),
    saturated=equal(seen.tanh, seen.saturated, on="few"),
    spaced=equal(seen.spaced, seen.same, on="few"),
    larger_share=equal(seen.relu, seen.clipped, on="few", content=Rational(1, 10)),
)
theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=few,
    experiments=dict(few=Experiment(observe, (seen,), {n: 4}, draws=4, subjects={"normal": Subject(build)})),
)
