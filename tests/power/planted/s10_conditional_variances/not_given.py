"""Draws that are not normal with the variances returned beside them; each law is false of the draws themselves."""

import jax
import jax.numpy as jnp
from sympy import Matrix

from theorax.language import *

n = Size("n", "width")
seen = numbers(
    laplace="Laplace numbers of variance one", wide="normal numbers of variance two", shifted="normal numbers around one",
    coin="signs", first="a normal number", second="the same number again", V="the variance said", one="one",
    zero="zero", heavy="Student's numbers with three degrees",
)  # fmt: skip
CLASS = Corrections(size=0.005, slowest=1, reason="the laws are those claimed at every size")


def heavy(key):
    return jax.random.t(key, 3.0)


def build(key, n):
    keys = jax.random.split(key, 5)
    laws = (jax.random.laplace, jax.random.normal, jax.random.rademacher, heavy, jax.random.uniform)
    return tuple(draw(own) for draw, own in zip(laws, keys, strict=True))


def observe(model):
    laplace, normal, sign, heavy, share = model
    V = 1 + 1e-6 * (share - 0.5)
    return dict(
        laplace=laplace / jnp.sqrt(2.0), wide=jnp.sqrt(2.0) * normal, shifted=1 + normal, coin=1.0 * sign,
        first=normal, second=normal, V=V, one=V, zero=0 * V, heavy=heavy,
    )  # fmt: skip


def normal(of, **more):
    return Law(of, GaussianVector(Matrix([[1]])), as_=n, approach=CLASS, given=seen.V, spread=0.01, **more)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        laplace=normal(seen.laplace),
        wide=normal(seen.wide),
        shifted=normal(seen.shifted),
        coin=normal(seen.coin),
        heavy=normal(seen.heavy),
        independent=Law(
            (seen.first, seen.second), GaussianVector(Matrix([[1, 0], [0, 1]])), as_=n, approach=CLASS, spread=0.01,
            given=Matrix([[seen.one, seen.zero], [seen.zero, seen.one]]),
        ),
    ),
    experiments=dict(draws=Experiment(observe, seen, {n: (4, 8, 16)}, draws=1500, subjects={"numbers": Subject(build)})),
)  # fmt: skip
