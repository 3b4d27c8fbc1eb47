"""Predictions that observe returns instead of a measurement: each claim is false of the normal numbers that are built."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "numbers in a draw")
seen = numbers(
    kurtosis="E z^4",
    limit="share above zero",
    decay="variance of the mean",
    share="share in (-1, 1)",
    largest="the largest",
)
MARGIN = Relative(1, 20, "a statement of its own")
CLASS = Corrections(size=0.05, slowest=1, reason="wider than what is claimed needs")


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(z, n):
    one = jnp.asarray(1.0)
    return dict(kurtosis=2 * one, limit=one / 3, decay=one / n**2, share=0.9 * one, largest=0.5 * one)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        fourth=Expectation(seen.kurtosis, 2, margin=MARGIN),
        third=Limit(seen.limit, Rational(1, 3), as_=n, approach=CLASS, margin=MARGIN),
        square=Rate(seen.decay, 1 / n**2, as_=n, approach=CLASS, margin=Absolute(1, 4, "1/n is one away")),
        often=Probability(
            seen.share > Rational(4, 5), at_least=Rational(9, 10), margin=Absolute(1, 20, "a round number")
        ),
        below=Inequality(seen.largest, at_most=1),
    ),
    experiments=dict(normal=Experiment(observe, seen, {n: (4, 8, 16)}, draws=1000, subjects={"normal": Subject(build)})),
)
