"""x^T A x is the sum over the entries of A."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "size")
seen = arrays(left="x^T A x", right="the sum")
same = Identity(seen.left, seen.right)


def build(key, n):
    return jax.random.normal(key, (n + 1, n))


def observe(model):
    A, x = model[1:], model[0]
    return dict(left=x @ A @ x, right=jnp.sum(A * jnp.outer(x, x)))


theorem = Theorem(
    label="own",
    claims=dict(same=same),
    experiments=dict(e=Experiment(observe, seen, {n: (2, 4)}, draws=4, subjects={"model": Subject(build)})),
)
