"""A bound in every draw that leaves a fifth of the draws open."""

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "number of entries")
x = Measured("x", "a normal number")
below = Inequality(x, at_most=2, content=Rational(1, 5), under=())


def build(key, n):
    return jax.random.normal(key)


def observe(number):
    return dict(x=number)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(below=below),
    experiments=dict(few=Experiment(observe, (x,), {n: 4}, draws=20, subjects={"normal": Subject(build)})),
)
