"""The spectral norm is at most the Frobenius norm."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "size")
seen = numbers(spectral="largest singular value", frobenius="Frobenius norm")
bound = Inequality(seen.spectral, at_most=seen.frobenius)


def build(key, n):
    return jax.random.normal(key, (n, n))


def observe(model, n):
    return dict(spectral=jnp.linalg.norm(model, 2), frobenius=jnp.linalg.norm(model))


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(observe, seen, {n: (4, 8)}, subjects={"model": Subject(build)})),
)
