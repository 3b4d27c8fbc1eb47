"""The mean square of a Gaussian vector is its variance; it rests on a statement that is false."""

import jax
import jax.numpy as jnp
from sympy import Integer, Rational

from theorax.language import *

n = Size("n", "length of the vector")
gamma = Parameter("gamma", "variance of an entry", positive=True)
square = Measured("square", "mean square of the entries", positive=True)

H = hypotheses(centred=Hypothesis("the entries have mean zero", unbroken="one subject is enough here"))
twice = Expectation(square, gamma, margin=Relative(1, 10, "a tenth"), spread=Rational(1, 2))


def build(key, n, gamma):
    return jnp.sqrt(gamma) * jax.random.normal(key, (n,))


def observe(vector, n):
    return dict(square=jnp.mean(vector**2))


theorem = Theorem(
    place="planted",
    label="derived",
    uses=("mean_square_of_two",),
    hypotheses=H,
    claims=dict(twice=twice),
    experiments=dict(
        vectors=Experiment(
            observe,
            square,
            {n: (32,)},
            at=({gamma: Integer(1)}, {gamma: Rational(1, 2)}),
            draws=2000,
            subjects={"Gaussian": Subject(build)},
        )
    ),
)
