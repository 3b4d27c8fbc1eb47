"""The second moment of uniform numbers over the square of their measured mean; normal numbers given their variances."""

import jax
import jax.numpy as jnp
from sympy import Matrix, Rational

from theorax.language import *

n = Size("n", "normal numbers that are added up")
seen = numbers(x="a uniform number", z="a normal number times the root of V", V="the variance, nearly one")
p = Parameter("p", "the mean", measured=seen.x)


def build(key, n):
    first, second, third = jax.random.split(key, 3)
    V = 1 + 0.1 * (jax.random.uniform(second) - 0.5)
    return jax.random.uniform(first), V, jnp.sqrt(V / n) * jnp.sum(jax.random.normal(third, (n,)))


def observe(model):
    x, V, z = model
    return dict(x=x, z=z, V=V)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        second=Expectation(
            seen.x**2 / p**2, Rational(4, 3), margin=Relative(1, 10, "normal numbers are farther"), spread=1
        ),
        normal=Law(
            seen.z, GaussianVector(Matrix([[1]])), as_=n, given=seen.V, spread=0.01,
            approach=Corrections(size=0.005, slowest=1, reason="the law is that claimed at every size"),
        ),
    ),
    experiments=dict(draws=Experiment(observe, seen, {n: (4, 8, 16)}, draws=3000, subjects={"uniform": Subject(build)})),
)  # fmt: skip
