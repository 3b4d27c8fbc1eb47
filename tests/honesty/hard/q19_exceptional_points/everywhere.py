"""The same forms with the right value at the exceptional point."""

import jax
import sympy
from sympy import Derivative, Integral, Ne, Piecewise, Rational, Sum, Symbol, cos, exp, log, oo, pi, sin

from theorax.language import *

n = Size("n", "number of entries")
mean = Measured("mean", "one and some noise")
H = hypotheses(drawn=Hypothesis("entries are normal", unbroken="nothing else is meant"))
x, a = (Symbol(name, real=True) for name in "xa")
p, q, u = (Symbol(name, positive=True) for name in "pqu")
k, m = (Symbol(name, integer=True, positive=True) for name in "km")

steps = dict(
    growth=Step("growth", Integral(exp(a * u), (u, 0, 1)), Piecewise(((exp(a) - 1) / a, Ne(a, 0)), (1, True))),
    beat=Step(
        "beat",
        Integral(cos((p - q) * u), (u, 0, pi)),
        Piecewise((sin(pi * (p - q)) / (p - q), Ne(p - q, 0)), (pi, True)),
    ),
    geometric=Step(
        "geometric", Sum(p**k, (k, 0, m)), Piecewise(((1 - p ** (m + 1)) / (1 - p), Ne(p, 1)), (m + 1, True))
    ),
    leading_term=Step("leading term", sympy.Limit((a * x + 1) / (x + 1), x, oo), Piecewise((a, Ne(a, 0)), (0, True))),
    slope_of_a_filled_function=Step(
        "slope of a filled function",
        Derivative(Piecewise((sin(x) / x, Ne(x, 0)), (1, True)), x),
        Piecewise(((x * cos(x) - sin(x)) / x**2, Ne(x, 0)), (0, True)),
    ),
    convolution=Step(
        "convolution",
        Integral(exp(-p * u - q * (1 - u)), (u, 0, 1)),
        Piecewise(((exp(-p) - exp(-q)) / (q - p), Ne(p - q, 0)), (exp(-p), True)),
    ),
    power=Step(
        "power", Integral(u ** (p - 2), (u, 1, 2)), Piecewise(((2 ** (p - 1) - 1) / (p - 1), Ne(p, 1)), (log(2), True))
    ),
    twice_the_letter=Step(
        "twice the letter",
        Integral(exp((q - 2 * p) * u), (u, 0, 1)),
        Piecewise(((exp(q - 2 * p) - 1) / (q - 2 * p), Ne(q - 2 * p, 0)), (1, True)),
    ),
)


def proof(claim, name, step):
    def steps():
        yield step
        yield Step("the mean", Integral(mean * exp(-mean), (mean, 0, oo)), claim.equals)

    steps.__name__, steps.__doc__ = f"proof_{name}", "All values."
    return derives(claim)(steps)


claims = {
    name: Expectation(mean, 1, margin=Absolute(1, 20, f"planted {number}"), spread=Rational(1, 20))
    for number, name in enumerate(steps)
}


def build(key, n):
    return 1 + jax.random.normal(key) / 20, n


theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=claims,
    proofs=tuple(proof(claims[name], name, step) for name, step in steps.items()),
    experiments=dict(
        numbers=Experiment(
            lambda model: dict(mean=model[0]), mean, {n: 8}, draws=100, subjects={"drawn": Subject(build)}
        )
    ),
)
