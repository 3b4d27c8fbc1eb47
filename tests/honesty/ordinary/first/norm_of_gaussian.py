"""The norm of a Gaussian vector over the root of n tends to 1."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
length = Measured("length", "norm over sqrt n")
tends = Limit(
    length,
    1,
    as_=n,
    margin=Relative(1, 10, "a tenth would matter"),
    approach=Expansion(powers=(1,), rest=Rational(1, 20), order=2, reference=16, reason="moments expand in 1/n"),
)


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(model, n):
    return dict(length=jnp.linalg.norm(model) / jnp.sqrt(n))


theorem = Theorem(
    label="own",
    claims=dict(tends=tends),
    experiments=dict(
        e=Experiment(observe, length, {n: (16, 32, 64, 128)}, draws=200, subjects={"model": Subject(build)})
    ),
)
