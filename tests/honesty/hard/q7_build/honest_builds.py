"""Builds that compute much and lose little: their floats are near what exact arithmetic makes of the same draws."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "pixels")
names = dict(
    variance="mean square of the deviations",
    normalised="square of the first entry of a unit vector, times n",
    masked="mean of the positive parts of roots",
    gram="diagonal entry of a Gram matrix over its size",
    soft="largest of two probabilities",
    steps="square of a random walk over its length",
    counted="a whole number over its range",
    slope="slope of a hyperbolic tangent",
)
seen = {name: Measured(name, meaning, real=True) for name, meaning in names.items()}


def variance(key, n):
    x = 5000 + jax.random.normal(key, (n,))
    return jnp.mean((x - jnp.mean(x)) ** 2) * n / (n - 1)


def normalised(key, n):
    x = jax.random.normal(key, (n,))
    return n * (x[0] / jnp.linalg.norm(x)) ** 2


def masked(key, n):
    x = jax.random.normal(key, (n,))
    return jnp.mean(jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1.0)), 0.0))


def gram(key, n):
    A = jax.random.normal(key, (n, 2))
    return (A.T @ A)[0, 0] / n


def soft(key, n):
    return jnp.max(jax.nn.softmax(jax.random.uniform(key, (2,))))


def steps(key, n):
    return jnp.cumsum(jax.random.rademacher(key, (n,)).astype(float))[-1] ** 2 / n


def counted(key, n):
    return jax.random.randint(key, (), 0, 10**6) / 10**6


def slope(key, n):
    return jax.grad(jnp.tanh)(jax.random.uniform(key))


BUILDS = dict(
    variance=variance,
    normalised=normalised,
    masked=masked,
    gram=gram,
    soft=soft,
    steps=steps,
    counted=counted,
    slope=slope,
)
MEANS = dict(
    variance=(1, Rational(1, 2)), normalised=(1, Rational(6, 5)), masked=(Rational(411, 1000), Rational(3, 10)),
    gram=(1, Rational(2, 5)), soft=(Rational(581, 1000), Rational(1, 10)), steps=(1, Rational(3, 2)),
    counted=(Rational(1, 2), Rational(3, 5)), slope=(Rational(76, 100), Rational(1, 4)),
)  # fmt: skip


def observed(name):
    return lambda model: {name: model}


claims = {
    name: Expectation(seen[name], value, margin=Relative(1, 5, "a fifth would be felt"), spread=spread)
    for name, (value, spread) in MEANS.items()
}
theorem = Theorem(
    label="own", claims=claims,
    experiments={
        name: Experiment(observed(name), seen[name], {n: 16}, draws=4000, dtype="float32", subjects={"model": Subject(build)})
        for name, build in BUILDS.items()
    },
)  # fmt: skip
