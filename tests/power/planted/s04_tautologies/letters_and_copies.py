"""A letter and its copy: what is claimed of the two is one number in every draw, however the letters differ.

In single precision the copy differs by that precision's rounding, which the averages must not pass off as noise.
"""

import jax
from sympy import Integer, Rational, log

from theorax.language import *

n = Size("n", "numbers in a draw")
seen = numbers(mean="mean of the squares", copy="the same, computed as if it were another quantity", positive=True)
single = numbers(
    narrow_mean="mean of the squares in single precision", narrow_copy="its copy, rounded otherwise", positive=True
)
MARGIN = Relative(1, 20, "a statement of its own")
CLASS = Corrections(size=0.05, slowest=1, reason="wider than what is claimed needs")


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(z, n):
    mean = (z**2).mean()
    return dict(mean=mean, copy=(mean + 1) / 3 + 2 * mean / 3 - 1 / 3)


def observe_single(z, n):
    mean, copy = observe(z, n).values()
    return dict(narrow_mean=mean, narrow_copy=copy)


def claims(mean, copy):
    return dict(
        same=Expectation(mean - copy, Integer(0), margin=Absolute(1, 20, "a round number")),
        median=Expectation(mean / copy, Integer(1), quantile=Rational(1, 2), margin=MARGIN),
        limit=Limit(1 + log(copy / mean), Integer(1), as_=n, approach=CLASS, margin=MARGIN),
        rate=Rate(copy / (n * mean), 1 / n, as_=n, approach=CLASS, margin=Absolute(1, 4, "a half is half away")),
        half=Expectation(mean / (mean + copy), Rational(1, 2), margin=MARGIN),
    )


DESIGN = dict(sweep={n: (4, 8, 16)}, draws=400, subjects={"normal": Subject(build)})
theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=claims(seen.mean, seen.copy)
    | {f"{name}_in_single": claim for name, claim in claims(single.narrow_mean, single.narrow_copy).items()},
    experiments=dict(
        normal=Experiment(observe, seen, **DESIGN),
        narrow=Experiment(observe_single, single, dtype="float32", **DESIGN),
    ),
)
