"""One data set for all draws: its largest number is said to be at most two with high probability, which is 4/5 at most."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import Absolute, Experiment, Measured, Probability, Size, Subject, Theorem

n = Size("n", "numbers")
largest = Measured("largest", "the largest number")


def build(key, n):
    data = jax.random.normal(jax.random.PRNGKey(7), (n,))
    return data + jax.random.uniform(key) / 10


def observe(x):
    return dict(largest=jnp.max(x))


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        small=Probability(largest <= 2, at_least=Rational(19, 20), margin=Absolute(1, 20, "a round number")),
    ),
    experiments=dict(sets=Experiment(observe, largest, {n: 8}, draws=1000, subjects={"normal": Subject(build)})),
)
