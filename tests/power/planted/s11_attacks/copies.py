"""Predictions read off a copy of the letter in other units, in the same draw: support whatever is measured."""

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "numbers")
seen = numbers(
    nats="a loss", bits="the same loss in other units", shifted="the same loss from another zero",
    other="a second loss", total="the sum of both losses",
)  # fmt: skip
p = Parameter("p", "the mean that theory predicts, in the other units", measured=seen.bits)
q = Parameter("q", "the mean that theory predicts, from the other zero", measured=seen.shifted)
r = Parameter("r", "the mean total that theory predicts", measured=seen.total)
MARGIN = Relative(1, 5, "a statement of its own")
CLASS = Corrections(size=0.05, slowest=1, reason="wider than what is claimed needs")


def build(key, n):
    return jax.random.uniform(key, (2,))


def observe(z):
    nats = z[0] ** 2
    return dict(nats=nats, bits=nats * 1.5, shifted=nats + 2, other=z[1], total=nats + z[1])


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        units=Expectation(seen.nats / p, Rational(2, 3), margin=MARGIN, spread=1),
        along=Limit(seen.nats / p, Rational(2, 3), as_=n, approach=CLASS, margin=MARGIN, spread=1),
        zero=Expectation(seen.nats - q, -2, margin=Absolute(1, 2, "a quarter"), spread=Rational(1, 2)),
        summed=Expectation((seen.nats + seen.other) / r, 1, margin=MARGIN, spread=1),
        likely=Probability(2 * p >= seen.nats, at_least=Rational(4, 5), margin=Absolute(1, 20, "round")),
    ),
    experiments=dict(
        draws=Experiment(observe, seen, {n: (4, 8, 16)}, draws=3000, subjects={"uniform": Subject(build)})
    ),
)  # fmt: skip
