"""Whole numbers that leave their type."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "number of spins")
k = Size("k", "number of keys")
seen = numbers(
    square="the square of a count of order 10^5, over 10^10", moment="the squared sum of the spins, 8 or -8, over 64 n"
)
sides = arrays(mixed="keys times an even multiplier, and the keys", keys="the keys")

H = hypotheses(any=Hypothesis("spins and keys are drawn uniformly", unbroken="nothing else is meant"))
# The square of an int32 of this order is no int32.
counted = Inequality(seen.square, at_most=Rational(1, 4), content=Rational(1, 50))
# Its mean is one at every n; a sum in int8 is one modulo 256.
lost = Limit(
    seen.moment, as_=n, to=0, margin=Absolute(3, 10, "a third of the true limit"), spread=Rational(1, 10),
    approach=Corrections(size=0.2, slowest=1, rest=0.2, order=1, reference=1024, reason="a bounded sum over n"),
)  # fmt: skip
same = Identity(sides.mixed, sides.keys, margin=Absolute(1, 2, "the next whole number"))


def build(key, n):
    one, two = jax.random.split(key)
    return jax.random.randint(one, (), 60000, 120000, jnp.int32), jax.random.bernoulli(two, 0.5, (n,))


def observe(model, n):
    count, up = model
    spins = jnp.where(up, 8, -8).astype(jnp.int8)
    return dict(square=(count * count) / 1e10, moment=jnp.sum(spins, dtype=jnp.int8).astype(float) ** 2 / (64 * n))


def keyed(key, k):
    return 2 * jax.random.randint(key, (k,), 1, 10**6, jnp.int32)


def mix(keys, k):
    multiplier = jnp.int32(2**30) * jnp.int32(2)
    return dict(mixed=(keys * multiplier + keys).astype(float), keys=keys.astype(float))


theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=dict(counted=counted, lost=lost, same=same),
    experiments=dict(
        spins=Experiment(observe, seen, {n: (1024, 2048, 4096)}, draws=300, subjects={"fair": Subject(build)}),
        hashed=Experiment(mix, sides, {k: 4}, draws=4, subjects={"even": Subject(keyed)}),
    ),
)
