"""An event of probability 7/10 has 19/20, with a margin of 2/5."""

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
z = Measured("z", "a uniform number")
likely = Probability(z <= Rational(7, 10), at_least=Rational(19, 20), margin=Absolute(2, 5, "a coin is 2/5 away"))


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
            draws=16,
            subjects={"model": Subject(build)},
        )
    ),
)
