"""A coordinate of a uniform direction times the root of n is Gaussian in the limit."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
x = Measured("x", "the number observed")
law = Law(
    x,
    gaussian(1),
    as_=n,
    approach=Expansion(powers=(1,), rest=Rational(1, 20), order=2, reference=8, reason="an Edgeworth expansion"),
)


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(model, n):
    return dict(x=jnp.sqrt(n) * model[0] / jnp.linalg.norm(model))


theorem = Theorem(
    label="own",
    claims=dict(law=law),
    experiments=dict(e=Experiment(observe, x, {n: (8, 16, 32)}, draws=3000, subjects={"model": Subject(build)})),
)
