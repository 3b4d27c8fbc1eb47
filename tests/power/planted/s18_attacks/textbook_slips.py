"""One slip in each derivation; its last step, a true integral, reaches the claim, which the data support."""

import jax
import sympy
from sympy import (
    Abs,
    Derivative,
    Integral,
    Max,
    Rational,
    Subs,
    Sum,
    Symbol,
    acos,
    atan,
    binomial,
    cos,
    exp,
    log,
    oo,
    pi,
    sqrt,
    transpose,
)  # fmt: skip

from theorax.language import *

n = Size("n", "number of entries")
mean = Measured("mean", "one and some noise")
H = hypotheses(drawn=Hypothesis("entries are normal", unbroken="nothing else is meant"))
x, y, a = (Symbol(name, real=True) for name in "xya")
p, q = (Symbol(name, positive=True) for name in "pq")
k, j = Symbol("k", integer=True, nonnegative=True), Symbol("j", integer=True, positive=True)
A, B = generic_matrices("A B")
m, i = Symbol("m", integer=True, nonnegative=True), Symbol("i", integer=True)

slips = dict(
    left_of_zero=Step("the sign, from the left", sympy.Limit(Abs(x) / x, x, 0, "-"), 1),
    interchanged=Step("limit and integral", sympy.Limit(Integral(2 * p * q * exp(-p * q**2), (q, 0, 1)), p, oo), 0),
    empty_row=Step("a row of alternating signs", Sum((-1) ** k * binomial(m, k), (k, 0, m)), 0),
    off_by_one=Step("powers of two", Sum(2**k, (k, 0, m)), 2**m - 1),
    rearranged=Step("the alternating harmonic series", Sum((-1) ** (j + 1) / j, (j, 1, oo)), 3 * log(2) / 2),
    at_the_kink=Step("a slope at a kink", Subs(Derivative(Abs(x), x), x, 0), 0),
    one_sided_slope=Step("another", Subs(Derivative(Max(x, 0), x), x, 0), Rational(1, 2)),
    extraneous=Solved("squared on the way", sqrt(p) - p + 2, p, [1, 4]),
    half_the_circle=Solved("a circle and a line", [x**2 + y**2 - 2, x - y], [x, y], [{x: 1, y: 1}]),
    root_of_a_square=Step("a root", sqrt(x**2), x),
    half_turn=Step("a right angle", atan(x) + atan(1 / x), pi / 2),
    difference_of_squares=MatrixStep("a difference of squares", (A - B) * (A + B), A**2 - B**2),
    transposed_in_order=MatrixStep("a product, transposed", transpose(A * B), transpose(A) * transpose(B)),
    angle=Step("an angle", acos(cos(x)), x),
)


def proof(claim, name, slip):
    def steps():
        yield slip
        yield Step("the total mass", Integral(exp(-q), (q, 0, oo)), claim.equals)

    steps.__name__, steps.__doc__ = f"proof_{name}", "All values."
    return derives(claim)(steps)


claims = {
    name: Expectation(mean, 1, margin=Absolute(1, 20, f"planted {number}"), spread=Rational(1, 20))
    for number, name in enumerate(slips)
}


def build(key, n):
    return 1 + jax.random.normal(key) / 20, n


theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=claims,
    proofs=tuple(proof(claims[name], name, slip) for name, slip in slips.items()),
    experiments=dict(
        numbers=Experiment(
            lambda model: dict(mean=model[0]), mean, {n: 8}, draws=100, subjects={"drawn": Subject(build)}
        )
    ),
)
