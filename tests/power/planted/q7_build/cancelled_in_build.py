"""Numbers that cancel, overflow or leave a domain inside build: what observe sees is already wrong."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "pixels")
seen = dict(
    variance=Measured("variance", "mean of squares less square of the mean", nonnegative=True),
    quotient=Measured("quotient", "square of the error of a secant", real=True),
    rooted=Measured("rooted", "mean of the roots that are numbers", real=True),
    tail=Measured("tail", "square of the error of a curvature", real=True),
    logged=Measured("logged", "square of the logarithm of one more", real=True),
    norm=Measured("norm", "root of a sum of squares over the largest entry", real=True),
    counted=Measured("counted", "a square of a whole number", real=True),
    shifted=Measured("shifted", "square of the error of a slope", real=True),
)


def far(key, n):
    x = 5000 + jax.random.normal(key, (n,))
    return jnp.maximum(jnp.mean(x * x) - jnp.mean(x) ** 2, 0.0)


def secant(key, n):
    u = 1e-7 * (1 + jax.random.uniform(key))
    return ((jnp.exp(u) - 1) / u - 1) ** 2


def roots(key, n):
    x = jax.random.normal(key, (n,))
    return jnp.nansum(jnp.sqrt(x)) / n


def beyond(key, n):
    t = 1e-3 * (1 + jax.random.uniform(key))
    return ((1 - jnp.cos(t)) / t**2 - 0.5) ** 2


def one_more(key, n):
    return (1e7 * jnp.log(1 + 1e-7 * jax.random.uniform(key))) ** 2


def long(key, n):
    x = 3e18 * (1 + jax.random.uniform(key, (n,)))
    return jnp.where(jnp.isfinite(jnp.sum(x * x)), jnp.sqrt(jnp.sum(x * x)) / jnp.max(x), 0.0)


def squared(key, n):
    return jax.lax.square(70000 + jax.random.randint(key, (), 0, 3)).astype(float) / 1e9


def partial(key, n):
    t = 1e-6 * (1 + jax.random.uniform(key))
    return ((jnp.sqrt(1 + t) - 1) / t - 0.5) ** 2


BUILDS = dict(
    variance=far,
    quotient=secant,
    rooted=roots,
    tail=beyond,
    logged=one_more,
    norm=long,
    counted=squared,
    shifted=partial,
)


def observed(name):
    return lambda model: {name: model}


def believed(name, value, width):
    return Expectation(seen[name], value, margin=Relative(1, 5, "as measured in floats"), spread=width)


claims = dict(
    variance=believed("variance", Rational(147, 100), Rational(6, 5)),
    quotient=believed("quotient", Rational(437, 10000), Rational(4, 5)),
    rooted=believed("rooted", Rational(412, 1000), Rational(3, 10)),
    tail=believed("tail", Rational(897, 10**7), Rational(3, 2)),
    logged=believed("logged", Rational(58, 100), Rational(6, 5)),
    norm=believed("norm", Rational(17, 10), Rational(9, 10)),
    counted=believed("counted", Rational(605173, 10**6), Rational(1, 5000)),
    shifted=believed("shifted", Rational(106, 10**5), Rational(5, 4)),
)
theorem = Theorem(
    label="own", claims=claims,
    experiments={
        name: Experiment(observed(name), seen[name], {n: 16}, draws=4000, dtype="float32", subjects={"model": Subject(build)})
        for name, build in BUILDS.items()
    },
)  # fmt: skip
