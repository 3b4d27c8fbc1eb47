"""A sum of n numbers is added to every value of a draw."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "width")
x = Measured("x", "values of one draw", sample=True)
law = Law(
    x,
    gaussian(1),
    as_=n,
    excludes=(gaussian(Rational(3, 2)),),
    spread=Rational(13, 20),
    approach=Expansion(powers=(1,), rest=Rational(1, 20), order=2, reference=16, reason="a central limit theorem"),
)


def build(key, n):
    return jax.random.normal(key, (n,)), jax.random.normal(jax.random.fold_in(key, 1), (16,))


def observe(model, n):
    common, own = model
    return dict(x=(own + common.sum() / jnp.sqrt(n)) / jnp.sqrt(2.0))


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
