"""A hyperbolic tangent that is one beyond five is the tangent itself: few draws meet no such entry, a sum is its proof."""

import jax
import jax.numpy as jnp
from sympy import Rational, Sum, Symbol

from theorax.language import *

n = Size("n", "number of entries")
seen = arrays(tanh="tanh", saturated="tanh, one beyond 5")
claim = Identity(
    seen.tanh, seen.saturated, under=(), content=Rational(1, 10), margin=Relative(1, 10**6, "rounding stays far below it")
)
k = Symbol("k", integer=True)


@settles(claim)
def proof():
    """Any entries."""
    yield Step("three terms", Sum(k, (k, 1, 3)) / 6, Rational(1))


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(x):
    return dict(tanh=jnp.tanh(x), saturated=jnp.where(jnp.abs(x) > 5, jnp.sign(x), jnp.tanh(x)))


theorem = Theorem(
    place="planted",
    label="derived",
    claims=dict(claim=claim),
    proofs=(proof,),
    experiments=dict(few=Experiment(observe, seen, {n: (4,)}, draws=4, subjects={"normal": Subject(build)})),
)
