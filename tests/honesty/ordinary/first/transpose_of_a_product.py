"""The transpose of a product is the product of the transposes."""

import jax

from theorax.language import *

n = Size("n", "size")
seen = arrays(left="(A B)^T", right="B^T A^T")
same = Identity(seen.left, seen.right)


def build(key, n):
    return jax.random.normal(key, (2, n, n))


def observe(model):
    A, B = model
    return dict(left=(A @ B).T, right=B.T @ A.T)


theorem = Theorem(
    label="own",
    claims=dict(same=same),
    experiments=dict(e=Experiment(observe, seen, {n: (2, 4)}, draws=4, subjects={"model": Subject(build)})),
)
