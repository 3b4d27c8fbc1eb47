"""n (1 - max) of uniform numbers tends to 1 in the mean."""

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
gap = Measured("gap", "n times the distance of the maximum from one")
tends = Limit(
    gap,
    1,
    as_=n,
    margin=Relative(1, 10, "a tenth would matter"),
    approach=Expansion(powers=(1,), rest=Rational(1, 20), order=2, reference=16, reason="moments expand in 1/n"),
)


def build(key, n):
    return jax.random.uniform(key, (n,))


def observe(model, n):
    return dict(gap=n * (1 - model.max()))


theorem = Theorem(
    label="own",
    claims=dict(tends=tends),
    experiments=dict(e=Experiment(observe, gap, {n: (16, 32, 64, 128)}, subjects={"model": Subject(build)})),
)
