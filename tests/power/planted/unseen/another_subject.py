"""Statements that are no theorem of the paper, a model that is not the paper's, letters that SymPy rewrote. Planted."""

import jax
from sympy import Integer, Rational

from theorax.language import *

n = Size("n", "how many")
mixed = Measured("mixed", "the paper's softmax attention of a sum of two token matrices", array=True)
parts = Measured("parts", "the sum of the attentions of each", array=True)
t = Parameter("t", "a parameter", nonnegative=True)


def build(key, n):
    keys = jax.random.split(key, 3)
    return tuple(jax.random.normal(each, (3, 3)) for each in keys)


def observe(net):
    weights, one, other = net  # fixed weights: the paper's are a softmax of the tokens, and nothing is additive
    return dict(mixed=weights @ (one + other), parts=weights @ one + weights @ other)


additive = Identity(mixed, parts, margin=Relative(1, 10**6, "stated"))
quotient = Inequality(t**2 / t, at_most=Integer(1) + t / 2, over={t: (0, 1)})
least = Optimum(t**3 / t - t, at={t: Rational(1, 2)}, over={t: (0, 1)}, margin=Absolute(1, 10**3, "stated"))

theorem = Theorem(
    place="Nowhere",
    label="read",
    claims=dict(additive=additive, quotient=quotient, least=least),
    experiments=dict(
        layers=Experiment(
            observe, (mixed, parts), {n: (3,)}, draws=Efforts(4, 4, 4), subjects={"layer": Subject(build)}
        )
    ),
)
