"""The mean of the empirical laws is Gaussian, even where every draw holds one number."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "width")
x = Measured("x", "64 values of one draw", sample=True)
law = Law(
    x,
    gaussian(1),
    as_=n,
    mean_law=True,
    excludes=(gaussian(Rational(3, 2)),),
    spread=Rational(13, 20),
    approach=Expansion(powers=(1,), rest=Rational(1, 20), order=2, reference=16, reason="a central limit theorem"),
)


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(model, n):
    return dict(x=jnp.sum(model) / jnp.sqrt(n) * jnp.ones(64))


theorem = Theorem(
    label="own",
    claims=dict(law=law),
    experiments=dict(
        e=Experiment(
            observe,
            x,
            {n: (16, 32, 64)},
            draws=2000,
            subjects={"model": Subject(build)},
        )
    ),
)
