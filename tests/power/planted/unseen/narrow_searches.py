"""Searches that find their planted members and would never find the one that matters. Planted; cannot be seen."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "how many")
seen = numbers(
    reached="distance that a descent on the target reached",
    found="that it reached on a member",
    began="that it began at",
)


def descend(distance, start):
    def step(_, w):
        return w - 0.2 * jax.grad(distance)(w)

    return distance(jax.lax.fori_loop(0, 60, step, start))


def build(key, n):
    return jax.random.normal(key, (2,)) + 0.5


def observe(net):
    def target(w):  # a member at w = 9 that no descent from near zero meets
        return 1 + w**2 / 2 - (1 + 9**2 / 2) * jnp.exp(-50 * (w - 9) ** 2)

    def member(w):
        return (w - 1) ** 2 / 2

    return dict(reached=descend(target, net[0]), found=descend(member, net[1] + 3), began=member(net[1] + 3))


nearest = Impossibility(
    seen.reached, at_least=Rational(1, 2), planted=seen.found, started=seen.began, tol=Rational(1, 10**6)
)

theorem = Theorem(
    place="Nowhere",
    label="derived",
    claims=dict(nearest=nearest),
    experiments=dict(
        searches=Experiment(observe, seen, {n: (4,)}, draws=400, subjects={"descents": Subject(build)}),
    ),
)
