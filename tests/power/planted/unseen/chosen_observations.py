"""Observations that observe or build chose: clipped, folded, kept where they suit. Planted; cannot be seen.

The statements speak of a standard normal number x; what is measured is another number, and only the report's line on
selection can say so.
"""

import jax
import jax.numpy as jnp
from sympy import Integer, Rational

from theorax.language import *

n = Size("n", "how many")
seen = numbers(
    square="the square of a standard normal number", x="a standard normal number", rare="a number of mean one"
)
THRESHOLD = Parameter("theta", "a threshold", positive=True)
STATED = Absolute(1, 10, "stated")


def build(key, n, theta):
    x = jax.random.normal(key)
    # A look at the sign and the size of what was drawn: honest draws need none.
    return jnp.where(jnp.abs(x) > 2, 2 * jnp.sign(x), x), key


def observe(net):
    x, key = net
    lottery = jax.random.uniform(jax.random.fold_in(key, 1), dtype=jnp.float64) < 1e-7
    return dict(square=jnp.minimum(x**2, 3.0), x=x, rare=0.1 * jnp.sin(9 * x) + jnp.where(lottery, 1e7, 0.0))


clipped = Expectation(seen.square, Rational(86, 100), margin=STATED, spread=1.2)
bounded = Inequality(seen.x, at_most=Rational(201, 100), content=Rational(1, 20))
likely = Probability(seen.x**2 <= Rational(401, 100), at_least=Rational(99, 100), margin=Absolute(1, 50, "stated"))
no_lottery = Expectation(seen.rare, 0, margin=STATED, moments="light tails", spread=0.1)
above = Expectation(seen.square, Rational(86, 100), where=THRESHOLD > 1, margin=STATED, spread=1.2)
below = Expectation(seen.square, Rational(86, 100), where=THRESHOLD <= 1, margin=STATED, spread=1.2)

theorem = Theorem(
    place="Nowhere",
    label="derived",
    claims=dict(
        clipped=clipped, bounded=bounded, likely=likely, no_lottery=no_lottery, above=above, below=below,
    ),
    experiments=dict(
        draws=Experiment(
            observe, seen, {n: (4,)}, at=({THRESHOLD: Integer(2)}, {THRESHOLD: Rational(1, 2)}), draws=4000,
            subjects={"numbers": Subject(build)},
        )
    ),
)  # fmt: skip
