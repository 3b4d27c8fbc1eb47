"""Derivations that speak of the measured mean, directly or by symbols that their steps share."""

import jax
import sympy
from sympy import Derivative, Integral, Rational, Subs, Sum, Symbol, exp, oo

from theorax.language import *

n = Size("n", "number of entries")
mean = Measured("mean", "one and some noise")
H = hypotheses(drawn=Hypothesis("entries are normal", unbroken="nothing else is meant"))
x, a = (Symbol(name, real=True) for name in "xa")
p, q, u = (Symbol(name, positive=True) for name in "pqu")
k, m = (Symbol(name, integer=True, positive=True) for name in "km")

t = Symbol("t", real=True)
derivations = dict(
    by_its_density=(Step("E", Integral(mean * exp(-mean), (mean, 0, oo)), 1),),
    by_a_shared_symbol=(
        Step("its transform", Integral(exp(t * u - u), (u, 0, oo)).subs(t, -p) * (1 + p) + 0 * mean, 1),
        Step("named", Derivative(mean * p, p), mean),
        Step("at a point", Subs(p**2, p, 1), 1),
    ),
    by_a_series=(
        Step("E", Sum(mean * Rational(1, 2) ** k, (k, 1, oo)), mean),
        Step("its value", Subs(mean, mean, 1), 1),
    ),
    by_a_limit=(Step("E", sympy.Limit((mean + x) / x, x, oo), 1),),
)


def proof(claim, name, given):
    def steps():
        yield from given

    steps.__name__, steps.__doc__ = f"proof_{name}", "All values."
    return derives(claim)(steps)


claims = {
    name: Expectation(mean, 1, margin=Absolute(1, 20, f"true {number}"), spread=Rational(1, 20))
    for number, name in enumerate(derivations)
}


def build(key, n):
    return 1 + jax.random.normal(key) / 20, n


theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=claims,
    proofs=tuple(proof(claims[name], name, step) for name, step in derivations.items()),
    experiments=dict(
        numbers=Experiment(
            lambda model: dict(mean=model[0]), mean, {n: 8}, draws=100, subjects={"drawn": Subject(build)}
        )
    ),
)
