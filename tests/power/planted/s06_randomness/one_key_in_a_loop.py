"""A walk whose every step is drawn from one key: it is said to leave n in half of the draws."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "steps")
end = Measured("end", "where the walk ends")


def build(key, n):
    return jax.lax.fori_loop(0, n, lambda i, x: x + jax.random.normal(key), 0.0)


def observe(x):
    return dict(end=jnp.asarray(x))


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(far=Probability(end**2 > n, at_least=Rational(1, 2), margin=Absolute(1, 10, "it is 0.32"))),
    experiments=dict(walks=Experiment(observe, end, {n: 16}, draws=400, subjects={"normal": Subject(build)})),
)
