"""Normal numbers times scales that look at them, and scales that are not variances; each law is false of the numbers."""

import jax
import jax.numpy as jnp
from sympy import Matrix

from theorax.language import *

n = Size("n", "width")
seen = numbers(
    truncated="a normal number times a scale that is larger where the number is",
    V="the square of that scale",
    one="the first of two numbers", other="the second", A="the variance said of both", C="their covariance said",
    sampled="a normal number", S="variance of twelve numbers, of which it is one",
)  # fmt: skip
CLASS = Corrections(size=0.03, slowest=1, reason="wider than what is claimed needs")


def build(key, n):
    return jax.random.normal(key, (12,))


def observe(z):
    V = jnp.where(jnp.abs(z[0]) < 0.6745, 0.8, 1.2)
    return dict(
        truncated=jnp.sqrt(V) * z[0], V=V,
        one=z[2], other=0.4 * z[2] + jnp.sqrt(1 - 0.16) * z[3], A=1 + 0.01 * jnp.tanh(z[4]), C=0.01 * jnp.tanh(z[5]),
        sampled=z[6] * 1.3, S=jnp.mean(z**2),
    )  # fmt: skip


def normal(of, given):
    return Law(of, GaussianVector(Matrix([[1]])), as_=n, approach=CLASS, given=given, spread=0.05)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        truncated=normal(seen.truncated, seen.V),
        uncorrelated=Law(
            (seen.one, seen.other), GaussianVector(Matrix([[1, 0], [0, 1]])), as_=n, approach=CLASS, spread=0.002,
            given=Matrix([[seen.A, seen.C], [seen.C, seen.A]]),
        ),
        sampled=normal(seen.sampled, seen.S),
    ),
    experiments=dict(draws=Experiment(observe, seen, {n: (4, 8, 17)}, draws=4000, subjects={"numbers": Subject(build)})),
)  # fmt: skip
