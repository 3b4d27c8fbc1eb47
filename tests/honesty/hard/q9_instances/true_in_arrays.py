"""True bounds and least values of arrays: their first plan has as many instances as their content asks for."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "number of entries")
seen = arrays(
    norm="Euclidean norm", largest="largest modulus", total="sum of the moduli", product="inner product",
    bound="product of norms",
    weights="softmax of the entries", excess="Euclidean norm less the sum of the moduli", mean="square of the mean",
    squares="mean of the squares",
)  # fmt: skip
least = arrays(value="least value of a quadratic, at its point", dual="the same by its dual", room="one")


def observe(x):
    y = x[::-1]
    return dict(
        norm=jnp.linalg.norm(x)[None], largest=jnp.max(jnp.abs(x))[None], total=jnp.sum(jnp.abs(x))[None],
        product=(x @ y)[None], bound=(jnp.linalg.norm(x) * jnp.linalg.norm(y))[None], weights=jax.nn.softmax(x),
        excess=(jnp.linalg.norm(x) - jnp.sum(jnp.abs(x)))[None], mean=jnp.mean(x)[None] ** 2, squares=jnp.mean(x**2)[None],
    )  # fmt: skip


def quadratic(x):
    value = -jnp.sum(x**2) / 2
    return dict(value=value[None], dual=(value - 1e-12)[None], room=jnp.ones(1))


def draw(key, n):
    return jax.random.normal(key, (n,))


claims = dict(
    moduli=Inequality(seen.largest, at_most=seen.norm),
    together=Inequality(seen.norm, at_most=seen.total),
    positive=Inequality(seen.weights, at_least=0),
    share=Inequality(seen.weights, at_most=1),
    far=Inequality(seen.excess, at_most=0),
    jensen=Inequality(seen.mean, at_most=seen.squares),
    cauchy=Inequality(seen.product, at_most=seen.bound),
    least=Optimum(
        least.value, bound=least.dual, unconstrained_because="every point is allowed",
        margin=Absolute(1, 10**9, "rounding stays below it"),
    ),
)  # fmt: skip
theorem = Theorem(
    label="own", claims=claims,
    experiments=dict(
        e=Experiment(observe, seen, {n: 4}, draws=2, subjects={"entries": Subject(draw)}),
        q=Experiment(quadratic, least, {n: 4}, draws=2, subjects={"entries": Subject(draw)}),
    ),
)  # fmt: skip
