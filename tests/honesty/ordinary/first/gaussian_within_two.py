"""A Gaussian number lies within two deviations with probability 19/20."""

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
z = Measured("z", "a Gaussian number")
likely = Probability(
    z**2 <= 4, at_least=Rational(19, 20), margin=Absolute(1, 20, "nine tenths would be another statement")
)


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(model, n):
    return dict(z=model[0])


theorem = Theorem(
    label="own",
    claims=dict(likely=likely),
    experiments=dict(e=Experiment(observe, z, {n: 16}, draws=500, subjects={"model": Subject(build)})),
)
