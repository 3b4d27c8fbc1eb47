"""The mean square of a normalised sum of signs tends to 1."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
square = Measured("square", "squared normalised sum")
tends = Limit(
    square,
    1,
    as_=n,
    margin=Relative(1, 10, "a tenth would matter"),
    approach=Expansion(powers=(1,), rest=Rational(1, 20), order=2, reference=16, reason="moments expand in 1/n"),
)


def build(key, n):
    return jax.random.rademacher(key, (n,), dtype=jnp.float64)


def observe(model, n):
    return dict(square=model.sum() ** 2 / n)


theorem = Theorem(
    label="own",
    claims=dict(tends=tends),
    experiments=dict(e=Experiment(observe, square, {n: (16, 32, 64, 128)}, subjects={"model": Subject(build)})),
)
