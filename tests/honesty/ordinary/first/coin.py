"""Two independent Gaussian numbers have one sign with probability 1/2 at least."""

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
product = Measured("product", "product of two numbers")
likely = Probability(
    product >= 0, at_least=Rational(1, 2), margin=Absolute(1, 10, "two fifths would be another statement")
)


def build(key, n):
    return jax.random.normal(key, (2,))


def observe(model, n):
    return dict(product=model[0] * model[1])


theorem = Theorem(
    label="own",
    claims=dict(likely=likely),
    experiments=dict(e=Experiment(observe, product, {n: 16}, subjects={"model": Subject(build)})),
)
