"""Predictions with a little noise of the draw: nothing of what is claimed is measured."""

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "numbers in a draw")
seen = numbers(kurtosis="E z^4", limit="share above zero", decay="variance of the mean", middle="median of z^2")
MARGIN = Relative(1, 5, "a statement of its own")
CLASS = Corrections(size=0.05, slowest=1, reason="wider than what is claimed needs")


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(z, n):
    noise = 1 + z[0] / 200
    return dict(kurtosis=2 * noise, limit=noise / 3, decay=noise / n**2, middle=noise / 4)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        fourth=Expectation(seen.kurtosis, 2, margin=MARGIN, spread=Rational(1, 2)),
        third=Limit(seen.limit, Rational(1, 3), as_=n, approach=CLASS, margin=MARGIN, spread=Rational(1, 2)),
        square=Rate(
            seen.decay, 1 / n**2, as_=n, approach=CLASS, margin=Absolute(1, 4, "1/n is one away"), spread=Rational(1, 2)
        ),
        median=Expectation(seen.middle, Rational(1, 4), quantile=Rational(1, 2), margin=MARGIN, spread=Rational(1, 2)),
    ),
    experiments=dict(
        normal=Experiment(observe, seen, {n: (4, 8, 16)}, draws=2000, subjects={"normal": Subject(build)})
    ),
)
