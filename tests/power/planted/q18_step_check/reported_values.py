"""False values of public reports: computer algebra finds them, or nothing; a second route contradicts each."""

import jax
from sympy import (
    Abs,
    Derivative,
    Integral,
    Ne,
    Piecewise,
    Rational,
    Subs,
    Sum,
    Symbol,
    binomial,
    cos,
    erfc,
    exp,
    log,
    oo,
    pi,
    sin,
    sqrt,
)  # fmt: skip

from theorax.language import *

n = Size("n", "number of entries")
mean = Measured("mean", "one and some noise")
H = hypotheses(drawn=Hypothesis("entries are normal", unbroken="nothing else is meant"))
x, a = (Symbol(name, real=True) for name in "xa")
p, q, u = (Symbol(name, positive=True) for name in "pqu")
k, m = (Symbol(name, integer=True, positive=True) for name in "km")

steps = dict(
    branch_of_a_product=Step("sympy#29792", Integral(sqrt(2 - x) * sqrt(1 / (2 - x)), (x, 0, 1)), -1),
    root_times_logarithm=Step("sympy#30404", Integral(sqrt(1 - x) * log(1 - x), (x, 0, 1)), 0),
    absolute_cosine=Step("sympy#25052", Integral(Abs(cos(x)), (x, -pi / 2, 0)), -1),
    absolute_product=Step("sympy#29072", Integral(Abs(sin(x) * cos(x)), (x, 0, 2 * pi)), 1),
    odd_integrand=Step("sympy#21387", Integral(Abs(cos(x)) * sin(x), (x, -pi, pi)), 1),
    squares_with_binomials=Step("sympy#13902", Sum(binomial(2, k) * k**2, (k, 0, m)), 2 - 2 * (m + 1) * binomial(1, m)),
    negative_letter=Step(
        "sympy#28485", Integral(exp(-p * (x**2 + 2 * x)), (x, -oo, oo)), -sqrt(pi) * exp(p) * erfc(-sqrt(p)) / sqrt(p)
    ),
    series_of_fractions=Step("sympy#15838", Sum((k + 1) / (k * (2 * k - 1) * (2 * k + 1)), (k, 2, oo)), 0),
    filled_point=Step("sympy#11402", Subs(Derivative(Piecewise((sin(x) / x, Ne(x, 0)), (1, True)), x, x), x, 0), 0),
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
