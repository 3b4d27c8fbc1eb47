"""The empirical law of n independent sums of one draw is Gaussian in the limit."""

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "width")
x = Measured("x", "n values of one draw", sample=True)
law = Law(
    x,
    gaussian(1),
    as_=n,
    excludes=(gaussian(Rational(3, 2)),),
    spread=Rational(1, 10),
    approach=Expansion(powers=(1,), rest=Rational(1, 20), order=2, reference=16, reason="a central limit theorem"),
)


def build(key, n):
    return jax.random.normal(key, (8 * n,))


def observe(model, n):
    return dict(x=model)


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
