"""The mean of uniform numbers is a half; six tenths is off by the margin, and some sample will not show it."""

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "not used")
x = Measured("x", "a uniform number")


def build(key, n):
    return jax.random.uniform(key)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(mean=Expectation(x, Rational(3, 5), margin=Absolute(1, 10, "off by it"), spread=Rational(3, 10))),
    experiments=dict(draws=Experiment(lambda u: dict(x=u), x, {n: 4}, draws=200, subjects={"uniform": Subject(build)})),
)
