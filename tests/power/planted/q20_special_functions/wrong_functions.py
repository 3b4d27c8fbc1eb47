"""Special functions of a wrong order, modulus or factor."""

import jax
from sympy import (
    I,
    Integral,
    Rational,
    Sum,
    Symbol,
    besseli,
    cos,
    elliptic_k,
    erf,
    exp,
    expint,
    lowergamma,
    oo,
    pi,
    polylog,
    sin,
    sqrt,
    zeta,
)  # fmt: skip

from theorax.language import *

n = Size("n", "number of entries")
mean = Measured("mean", "one and some noise")
H = hypotheses(drawn=Hypothesis("entries are normal", unbroken="nothing else is meant"))
x, a = (Symbol(name, real=True) for name in "xa")
p, q, u = (Symbol(name, positive=True) for name in "pqu")
k, m = (Symbol(name, integer=True, positive=True) for name in "km")

steps = dict(
    circular=Step("circular", Integral(exp(p * cos(x)), (x, 0, pi)), pi * besseli(1, p)),
    pendulum=Step("pendulum", Integral(1 / sqrt(1 - sin(x) ** 2 / 4), (x, 0, pi / 2)), elliptic_k(Rational(1, 2))),
    exponential_integral=Step("exponential integral", Integral(exp(-u) / u, (u, p, oo)), expint(2, p)),
    tail_of_gamma=Step("tail of gamma", Integral(u ** (p - 1) * exp(-u), (u, q, oo)), lowergamma(p, q)),
    cubes=Step("cubes", Sum(1 / k**3, (k, 1, oo)), zeta(4)),
    dilogarithm=Step("dilogarithm", Sum(Rational(1, 3) ** k / k**2, (k, 1, oo)), polylog(3, Rational(1, 3))),
    error_function=Step("error function", Integral(exp(-(u**2)), (u, 0, p)), sqrt(pi) * erf(p)),
    characteristic_function=Step(
        "characteristic function", Integral(exp(-(x**2) / 2 + I * a * x), (x, -oo, oo)), sqrt(2 * pi) * exp(-(a**2))
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
