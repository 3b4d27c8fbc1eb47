"""The fourth moment of the semicircle is 2."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
m4 = Measured("m4", "fourth spectral moment")
tends = Limit(
    m4,
    2,
    as_=n,
    margin=Relative(1, 10, "a tenth would matter"),
    approach=Expansion(powers=(1,), rest=Rational(1, 20), order=2, reference=16, reason="moments expand in 1/n"),
)


def build(key, n):
    return jax.random.normal(key, (n, n))


def observe(model, n):
    W = (model + model.T) / jnp.sqrt(2 * n)
    return dict(m4=jnp.trace(W @ W @ W @ W) / n)


theorem = Theorem(
    label="own",
    claims=dict(tends=tends),
    experiments=dict(e=Experiment(observe, m4, {n: (8, 16, 32, 64)}, subjects={"model": Subject(build)})),
)
