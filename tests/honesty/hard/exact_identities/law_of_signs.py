"""A factor drawn as a sign passes through tanh: fields see any factor and no parity, instances enough support it."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "number of entries")
seen = arrays(inside="tanh of the entries with their signs", outside="signs times tanh of the entries")
odd = Identity(
    seen.inside, seen.outside, under=(), content=Rational(1, 10),
    margin=Relative(1, 10**6, "rounding stays below it"),
)  # fmt: skip


def build(key, n):
    return jax.random.rademacher(key, (n,), float), jax.random.normal(jax.random.fold_in(key, 1), (n,))


def observe(model):
    signs, x = model
    return dict(inside=jnp.tanh(signs * x), outside=signs * jnp.tanh(x))


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(odd=odd),
    experiments=dict(all=Experiment(observe, (seen,), {n: 3}, draws=44, subjects={"signs": Subject(build)})),
)
