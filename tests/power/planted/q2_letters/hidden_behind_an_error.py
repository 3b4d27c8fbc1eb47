"""A false formula whose program refuses every value of the letter but the author's: the report says so."""

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
k = Parameter("k", "copies", integer=True, positive=True)
x = Measured("x", "k^2 times a number of mean one", positive=True)
doubled = Expectation(x, 2 * k, margin=Relative(1, 10, "far"), spread=Rational(1, 5))


def build(key, n, k):
    if k != 2 or n != 4:
        raise ValueError("two copies of four are built")
    return k**2 * jax.random.uniform(key, minval=0.8, maxval=1.2)


theorem = Theorem(
    claims=dict(doubled=doubled),
    experiments=dict(
        drawn=Experiment(lambda x: dict(x=x), x, {n: 4}, at={k: 2}, draws=200, subjects={"drawn": Subject(build)})
    ),
)
