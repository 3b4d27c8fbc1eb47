"""The first term of an error with its sign, which one draw in forty has below zero."""

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "number of steps")
x = Measured("x", "a solution")
CLASS = Corrections(size=0.005, slowest=1, reason="the law is that claimed at every size")


def build(key, n):
    return jax.random.normal(key, (2,))


def observe(z):
    return dict(x=1.2 * z[0], x_error=1e-6 * (2 + z[1]))


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(wide=Expectation(x, Rational(1, 2), margin=Absolute(1, 10, "a fifth of it"), spread=1)),
    experiments=dict(draws=Experiment(observe, x, {n: (4, 8, 16)}, draws=1500, subjects={"normal": Subject(build)})),
)
