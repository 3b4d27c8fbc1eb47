"""Planted members whose start was not measured: nobody can tell that the search went anywhere."""

import jax
import jax.numpy as jnp
from sympy import Integer, Rational

from theorax.language import Experiment, Impossibility, Measured, Size, Subject, Theorem

n = Size("n", "restarts at once")
distance = Measured("distance", "distance from the target")
planted = Measured("planted", "distance from a member")


def build(key, n):
    return jax.random.uniform(key)


def observe(x):
    return dict(distance=jnp.abs(x - 3), planted=0.0 * x)


apart = Impossibility(distance, at_least=Integer(1), planted=planted, tol=Rational(1, 100))
theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(apart=apart),
    experiments=dict(
        searches=Experiment(observe, (distance, planted), {n: (1,)}, subjects={"uniform": Subject(build)}, draws=40)
    ),
)
