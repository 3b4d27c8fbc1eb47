"""A mean on two sides of a threshold: each formula holds on its own side and fails on the other. True, and hard.

For x uniform in (0, 1) the mean of max(x, theta) is (1 + theta^2)/2 up to theta = 1 and theta beyond.
"""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "how many")
theta = Parameter("theta", "a threshold", positive=True)
seen = numbers(larger="the larger of a uniform number and theta", read="the same, read with an error")
STATED = Absolute(1, 20, "the other side's formula is off by at least an eighth")


def build(key, n, theta):
    drawn, read = jax.random.split(key)
    larger = jnp.maximum(jax.random.uniform(drawn), theta)
    return larger, larger + 0.1 * jax.random.normal(read)


def observe(net):
    return dict(larger=net[0], read=net[1])


below = Expectation(seen.larger, (1 + theta**2) / 2, where=theta <= 1, margin=STATED, moments=Bounded(0, 1), spread=0.3)
above = Expectation(seen.read, theta, where=theta > 1, margin=STATED, spread=0.1)
never_less = Inequality(theta - seen.larger, at_most=Rational(1, 1000), where=theta <= 1, content=Rational(1, 20))
likely = Probability(seen.larger <= theta, at_least=theta, where=theta < 1, margin=STATED)

theorem = Theorem(
    place="Elementary",
    label="derived",
    claims=dict(below=below, above=above, never_less=never_less, likely=likely),
    experiments=dict(
        draws=Experiment(
            observe, seen, {n: (4,)}, draws=6000, at=tuple({theta: v} for v in (Rational(1, 2), Rational(3, 2))),
            subjects={"uniform": Subject(build)},
        )
    ),
)  # fmt: skip
