"""Softmax does not change when a number is added to every score."""

import jax

from theorax.language import *

n = Size("n", "size")
seen = arrays(left="softmax(s + 1)", right="softmax(s)")
same = Identity(seen.left, seen.right)


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(model):
    return dict(left=jax.nn.softmax(model + 1), right=jax.nn.softmax(model))


theorem = Theorem(
    label="own",
    claims=dict(same=same),
    experiments=dict(e=Experiment(observe, seen, {n: (2, 4)}, draws=4, subjects={"model": Subject(build)})),
)
