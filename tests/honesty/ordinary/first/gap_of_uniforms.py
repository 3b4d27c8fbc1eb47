"""The smallest of n uniform numbers is of order 1/n."""

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
least = Measured("least", "smallest number", positive=True)
decays = Rate(
    least,
    1 / n,
    as_=n,
    margin=Absolute(1, 5, "a half is the next order"),
    approach=Corrections(size=Rational(1, 10), slowest=1, reason="corrections in 1/n"),
)


def build(key, n):
    return jax.random.uniform(key, (n,))


def observe(model, n):
    return dict(least=model.min())


theorem = Theorem(
    label="own",
    claims=dict(decays=decays),
    experiments=dict(e=Experiment(observe, least, {n: (16, 32, 64, 128)}, subjects={"model": Subject(build)})),
)
