"""The sigmoid is half of one plus the tanh of a half."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "size")
seen = arrays(left="sigmoid(x)", right="(1 + tanh(x/2))/2")
same = Identity(seen.left, seen.right)


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(model):
    return dict(left=jax.nn.sigmoid(model), right=(1 + jnp.tanh(model / 2)) / 2)


theorem = Theorem(
    label="own",
    claims=dict(same=same),
    experiments=dict(e=Experiment(observe, seen, {n: (2, 4)}, draws=4, subjects={"model": Subject(build)})),
)
