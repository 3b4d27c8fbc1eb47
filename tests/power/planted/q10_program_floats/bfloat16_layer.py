"""Running a linear layer in bfloat16 returns what it returns in float64."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "width")
seen = arrays(full="in float64", half="in bfloat16")
same = Identity(seen.full, seen.half, margin=Relative(1, 10**3, "a thousandth would be felt"))


def build(key, n):
    return jax.random.normal(key, (n + 1, n))


def observe(e):
    x, W = e[0], e[1:]
    y = W.astype(jnp.bfloat16) @ x.astype(jnp.bfloat16)
    return dict(full=W @ x, half=y.astype(jnp.float64))


theorem = Theorem(
    label="own",
    claims=dict(same=same),
    experiments=dict(e=Experiment(observe, seen, {n: (2, 5)}, draws=8, subjects={"layer": Subject(build)})),
)
