"""A ReLU layer is positively homogeneous."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "width")
seen = arrays(out="relu(W (e^c x))", scaled="e^c relu(W x)")
same = Identity(seen.out, seen.scaled, margin=Relative(1, 10**6, "rounding stays below"))


def build(key, n):
    return jax.random.normal(key, (n + 2, n))


def observe(e):
    c, x, W = jnp.exp(e[0, 0]), e[1], e[2:]
    return dict(out=jax.nn.relu(W @ (c * x)), scaled=c * jax.nn.relu(W @ x))


theorem = Theorem(
    label="own",
    claims=dict(same=same),
    experiments=dict(e=Experiment(observe, seen, {n: (2, 4)}, draws=8, subjects={"layer": Subject(build)})),
)
