"""Sums that end in their type, bytes that wrap, and order of addition taken for chance."""

import jax
import jax.numpy as jnp
from sympy import Ne, Rational

from theorax.language import *

n = Size("n", "number of terms")
seen = numbers(
    mean="mean of n numbers between 1/2 and 3/2, added one by one in bfloat16, and a tenth of the first",
    grey="a grey value between 0 and 4, kept as a byte",
    left="three numbers multiplied from the left",
    right="three numbers multiplied from the right",
    root="difference of two roots, times n",
    bright="a sum of two bytes",
)
MARGIN = Relative(1, 5, "the sum that ends early is less than half")


def build(key, n):
    return jax.random.uniform(key, (n,))


def observe(u, n):
    terms = (0.5 + u).astype(jnp.bfloat16)
    total = jax.lax.fori_loop(0, n, lambda i, s: s + terms[i], jnp.bfloat16(0))
    grey = jnp.floor(1024 * u[0]).astype(jnp.int32).astype(jnp.uint8)
    byte = jnp.floor(256 * u[:2]).astype(jnp.uint8)
    big = jnp.float32(1e10) * (1 + u[0].astype(jnp.float32))
    return dict(
        mean=total.astype(jnp.float32) / n + 0.1 * u[0],
        grey=(grey.astype(jnp.float32) + 0.5) / 256,
        left=(u[0] * u[1]) * u[2],
        right=u[0] * (u[1] * u[2]),
        root=(jnp.sqrt(big + 1) - jnp.sqrt(big)) * 1e5,
        bright=(byte[0] + byte[1]).astype(jnp.float32),
    )


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        saturated=Expectation(seen.mean, Rational(48, 100), margin=MARGIN, spread=Rational(1, 20), on="long"),
        wrapped=Expectation(seen.grey, Rational(1, 2), margin=MARGIN, spread=Rational(1, 3), on="short"),
        differ=Probability(Ne(seen.left, seen.right), Rational(1, 10), margin=Absolute(1, 20, "half"), on="short"),
        vanishing=Inequality(seen.root, at_most=Rational(1, 1000), on="short"),
        bytes_add=Inequality(seen.bright, at_most=255, on="short"),
    ),
    experiments=dict(
        short=Experiment(observe, seen, {n: 4}, draws=400, dtype="float32",
                         subjects={"uniform": Subject(build)}),
        long=Experiment(observe, seen, {n: 1200}, draws=200, dtype="float32", subjects={"uniform": Subject(build)}),
    ),
)  # fmt: skip
