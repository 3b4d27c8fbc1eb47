"""Bounds of arrays that fail on a third of the law, tried on one instance."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "number of entries")
seen = arrays(
    top="largest entry",
    low="smallest entry",
    gap="difference of the two largest",
    norm="Euclidean norm",
    total="sum",
    value="square of the first entry",
    part="largest share of the sum of squares",
)


def observe(x):
    ordered = jnp.sort(x)
    return dict(
        top=ordered[-1:], low=ordered[:1], gap=ordered[-1:] - ordered[-2:-1], norm=jnp.linalg.norm(x)[None],
        total=jnp.sum(x)[None], value=x[:1] ** 2, part=(jnp.max(x**2) / jnp.sum(x**2))[None],
    )  # fmt: skip


def draw(key, n):
    return jax.random.normal(key, (n,))


claims = dict(
    above=Inequality(seen.top, at_most=Rational(3, 2)),
    below=Inequality(seen.low, at_least=-Rational(3, 2)),
    spaced=Inequality(seen.gap, at_most=1),
    short=Inequality(seen.norm, at_most=Rational(23, 10)),
    balanced=Inequality(seen.total, at_most=1),
    spread=Inequality(seen.part, at_most=Rational(3, 4)),
    far=Inequality(seen.top, at_least=Rational(1, 2)),
    small=Inequality(seen.value, at_most=Rational(6, 5)),
)
theorem = Theorem(
    label="own", claims=claims,
    experiments=dict(e=Experiment(observe, seen, {n: 4}, draws=1, subjects={"entries": Subject(draw)})),
)  # fmt: skip
