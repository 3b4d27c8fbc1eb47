"""The inner product is at most the product of the norms."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "size")
seen = numbers(inner="modulus of the inner product", norms="product of the norms")
bound = Inequality(seen.inner, at_most=seen.norms)


def build(key, n):
    return jax.random.normal(key, (2, n))


def observe(model, n):
    a, b = model
    return dict(inner=jnp.abs(a @ b), norms=jnp.linalg.norm(a) * jnp.linalg.norm(b))


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(observe, seen, {n: (4, 8)}, draws=300, subjects={"model": Subject(build)})),
)
