"""The same with 99/100 and a margin of 1/3."""

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
z = Measured("z", "a uniform number")
likely = Probability(z <= Rational(7, 10), at_least=Rational(99, 100), margin=Absolute(1, 3, "a coin is farther"))


def build(key, n):
    return jax.random.uniform(key, (n,))


def observe(model, n):
    return dict(z=model[0])


theorem = Theorem(
    label="own",
    claims=dict(likely=likely),
    experiments=dict(
        e=Experiment(
            observe,
            z,
            {n: 4},
            draws=40,
            subjects={"model": Subject(build)},
        )
    ),
)
