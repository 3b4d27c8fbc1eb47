"""A positive part clipped at two, on instances enough to meet an entry beyond it."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "number of entries")
seen = arrays(relu="positive parts", clipped="positive parts, at most two")
clipped = Identity(
    seen.relu, seen.clipped, under=(), margin=Relative(1, 10**6, "rounding stays below it"),
)  # fmt: skip


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(x):
    return dict(relu=jax.nn.relu(x), clipped=jnp.clip(x, 0, 2))


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(clipped=clipped),
    experiments=dict(many=Experiment(observe, (seen,), {n: 4}, draws=220, subjects={"normal": Subject(build)})),
)
