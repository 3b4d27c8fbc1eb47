"""Numbers that come out of unrelated steps, called derivations of a mean that is off within its margin."""

import jax
import sympy
from sympy import Derivative, Integral, Product, Rational, Subs, Sum, Symbol, exp, oo

from theorax.language import *

n = Size("n", "number of entries")
mean = Measured("mean", "one and some noise")
H = hypotheses(drawn=Hypothesis("entries are normal", unbroken="nothing else is meant"))
x, a = (Symbol(name, real=True) for name in "xa")
p, q, u = (Symbol(name, positive=True) for name in "pqu")
k, m = (Symbol(name, integer=True, positive=True) for name in "km")

OFF = Rational(41, 40)
numbers = dict(
    an_area=Step("an area", Integral(2 * OFF * u, (u, 0, 1)), OFF),
    a_tail=Step("a tail", Integral(OFF * exp(-u), (u, 0, oo)), OFF),
    a_series=Step("a series", Sum(OFF * Rational(1, 2) ** k, (k, 1, oo)), OFF),
    a_limit=Step("a limit", sympy.Limit((OFF * x + 1) / (x + 2), x, oo), OFF),
    a_slope=Step("a slope", Subs(Derivative(OFF * exp(x), x), x, 0), OFF),
    a_product=Step("a product", OFF * Product(k / k, (k, 1, 3)) + Integral(0 * u + 1, (u, 1, 1)), OFF),
    a_root=Solved("a root", p**2 - OFF**2, p, [OFF]),
    a_stray_letter=Step("a value put in", Subs(p / 40, p, 41), OFF),
)


def proof(claim, name, step):
    def steps():
        if name == "a_stray_letter":
            yield Step("it speaks of the letter, and leads nowhere", Derivative(mean**2, mean), 2 * mean)
        yield step

    steps.__name__, steps.__doc__ = f"proof_{name}", "All values."
    return derives(claim)(steps)


claims = {
    name: Expectation(mean, OFF, margin=Absolute(1, 20, f"planted {number}"), spread=Rational(1, 20), reading="margin")
    for number, name in enumerate(numbers)
}


def build(key, n):
    return 1 + jax.random.normal(key) / 20, n


theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=claims,
    proofs=tuple(proof(claims[name], name, step) for name, step in numbers.items()),
    experiments=dict(
        numbers=Experiment(
            lambda model: dict(mean=model[0]), mean, {n: 8}, draws=200, subjects={"drawn": Subject(build)}
        )
    ),
)
