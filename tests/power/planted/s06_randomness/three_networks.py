"""A seed of which three values are left: three networks among all draws, whose mean stands for that of all networks."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "width")
seen = numbers(outcome="output of the network", size="|w|^2/n")


def build(key, n):
    place = jax.random.randint(key, (), 0, 3)
    return jax.random.normal(jax.random.wrap_key_data(jnp.stack([place, place]).astype(jnp.uint32)), (n,))


def observe(w):
    return dict(outcome=jnp.mean(jnp.tanh(w)), size=jnp.mean(w**2))


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        centred=Expectation(seen.outcome, Rational(31, 100), margin=Absolute(1, 10, "the mean over networks is zero")),
        positive=Probability(seen.size > Rational(1, 10), at_least=Rational(9, 10), margin=Absolute(1, 20, "round")),
        bounded=Inequality(seen.size, at_most=20),
    ),
    experiments=dict(nets=Experiment(observe, seen, {n: 4}, draws=400, subjects={"tanh": Subject(build)})),
)
