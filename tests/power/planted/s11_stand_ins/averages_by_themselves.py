"""The mean p of a letter is read off the draws and held against them: every p is confirmed, whatever theory says."""

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "numbers")
seen = numbers(x="a uniform number", y="the square of another")
p = Parameter("p", "the mean that theory predicts", measured=seen.x)
q = Parameter("q", "the mean square that theory predicts", measured=seen.y)
MARGIN = Relative(1, 5, "a statement of its own")
CLASS = Corrections(size=0.05, slowest=1, reason="wider than what is claimed needs")


def build(key, n):
    return jax.random.uniform(key, (2,))


def observe(z):
    return dict(x=z[0], y=z[1] ** 2)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        difference=Expectation(seen.x - p, 0, margin=Absolute(1, 2, "half of the range")),
        quotient=Expectation(seen.x / p, 1, margin=MARGIN, spread=1),
        limit=Limit(seen.x / p, 1, as_=n, approach=CLASS, margin=MARGIN, spread=1),
        both=Limit(seen.x / p + seen.y / q, 2, as_=n, approach=CLASS, margin=MARGIN, spread=1),
        square=Inequality(2 * p * seen.x - p**2 - seen.x**2, at_most=0, margin=Absolute(1, 10**9, "rounding")),
        near=Probability(seen.x <= 4 * p, at_least=Rational(9, 10), margin=Absolute(1, 20, "round")),
    ),
    experiments=dict(
        draws=Experiment(observe, seen, {n: (4, 8, 16)}, draws=3000, subjects={"uniform": Subject(build)})
    ),
)
