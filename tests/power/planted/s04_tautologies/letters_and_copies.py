"""A letter and its copy: what is claimed of the two is one number in every draw, however the letters differ."""

import jax
from sympy import Integer, Rational, log

from theorax.language import *

n = Size("n", "numbers in a draw")
seen = numbers(mean="mean of the squares", copy="the same, computed as if it were another quantity", positive=True)
MARGIN = Relative(1, 20, "a statement of its own")
CLASS = Corrections(size=0.05, slowest=1, reason="wider than what is claimed needs")


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(z, n):
    mean = (z**2).mean()
    return dict(mean=mean, copy=(mean + 1) / 3 + 2 * mean / 3 - 1 / 3)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        same=Expectation(seen.mean - seen.copy, Integer(0), margin=Absolute(1, 20, "a round number")),
        median=Expectation(seen.mean / seen.copy, Integer(1), quantile=Rational(1, 2), margin=MARGIN),
        limit=Limit(1 + log(seen.copy / seen.mean), Integer(1), as_=n, approach=CLASS, margin=MARGIN),
        rate=Rate(
            seen.copy / (n * seen.mean), 1 / n, as_=n, approach=CLASS, margin=Absolute(1, 4, "a half is half away")
        ),
        half=Expectation(seen.mean / (seen.mean + seen.copy), Rational(1, 2), margin=MARGIN),
    ),
    experiments=dict(normal=Experiment(observe, seen, {n: (4, 8, 16)}, draws=400, subjects={"normal": Subject(build)})),
)
