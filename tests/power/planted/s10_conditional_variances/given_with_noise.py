"""Laplace numbers of variance one, and beside them a variance of about one: that of numbers they are not."""

import jax
import jax.numpy as jnp
from sympy import Matrix

from theorax.language import *

n = Size("n", "width")
seen = numbers(x="a Laplace number", V="the variance said")


def build(key, n):
    return jax.random.split(key, 2)


def observe(keys, n):
    variance = 1 + 0.05 * (jax.random.uniform(keys[0]) - 0.5) + 1e-3 / n
    return dict(x=jax.random.laplace(keys[1]) * jnp.sqrt(0.5 + 5e-4 / n), V=variance)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        law=Law(
            seen.x,
            GaussianVector(Matrix([[1]])),
            as_=n,
            approach=Corrections(size=0.005, slowest=1, reason="the law is that claimed at every size"),
            given=seen.V,
            spread=0.01,
        )
    ),
    experiments=dict(draws=Experiment(observe, seen, {n: (4, 8, 16)}, draws=800, subjects={"numbers": Subject(build)})),
)
