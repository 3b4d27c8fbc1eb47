"""Derivations that go through an identity of binomials which a simplifier believes, and which fails at the poles.

What is claimed is true and measured; a step of its derivation is false for negative integers. Planted, S19.
"""

import jax
from sympy import Integer, Rational, Symbol, binomial, cos, sin

from theorax.language import *

n = Size("n", "how many")
x = Measured("x", "a number of mean 1 + 1/n")
q = Measured("q", "a quantity of the order 1/n", positive=True)
whole = Measured("whole", "a square of a sum", array=True)
parts = Measured("parts", "the same from squares and product", array=True)
m, k, j = (Symbol(name, integer=True) for name in "mkj")
r = Symbol("r", real=True)
p = Symbol("p", integer=True, nonnegative=True)

STATED = Absolute(1, 10, "stated")


def build(key, n):
    noise = jax.random.normal(key, (2,))
    return (1 + 1 / n.value) + 0.05 * noise[0], jax.numpy.exp(0.1 * noise[1]) / n.value


def observe(net):
    return dict(x=net[0], q=net[1])


def programs(net):
    return dict(whole=(net[0] + net[1]) ** 2, parts=net[0] ** 2 + 2 * net[0] * net[1] + net[1] ** 2)


smooth = Expansion(powers=(1,), rest=0.1, order=2, reason="exactly one over n")
settling = Limit(of=x, to=1, as_=n, approach=smooth, margin=STATED, spread=0.05)
falling = Rate(of=q, like=1 / n, as_=n, approach=Corrections(), margin=STATED, spread=0.1)
mean = Expectation(of=x, equals=1 + 1 / n, margin=STATED, spread=0.05)
common = Probability(event=x > 1, at_least=Rational(1, 4), margin=STATED)
halves = Identity(left=whole, right=parts, margin=Relative(1, 10**6, "stated"))
square = Inequality(of=2 * x, at_most=1 + x**2, margin=Absolute(1, 10**6, "stated"), content=Rational(1, 20))


@derives(settling)
def symmetric():
    """For all integers m and k."""
    yield Step("choose what is left out", binomial(m, k), binomial(m, m - k))
    yield Step("sum", Integer(1), cos(r) ** 2 + sin(r) ** 2)


@derives(falling)
def with_a_factor():
    """For all real r."""
    yield Step("choose what is left out, r times", r * binomial(m, k), r * binomial(m, m - k))
    yield Step("sum", 1 / n, (1 + n) / n - 1)


@derives(mean)
def in_twice_as_many():
    """For all integers m and k."""
    yield Step("from the middle up and down", binomial(2 * m, m + k), binomial(2 * m, m - k))
    yield Step("sum", 1 + 1 / n, (1 + n) / n)


@derives(common)
def in_a_recursion():
    """For all integers m and k."""
    yield Step("with the last one or without", binomial(m + 1, k), binomial(m, m - k) + binomial(m, k - 1))
    yield Step("halve", Rational(1, 4), (cos(r) ** 2 + sin(r) ** 2) / 4)


@derives(halves)
def in_a_square():
    """For all integers m and k."""
    yield Step("square", binomial(m, k) ** 2, binomial(m, k) * binomial(m, m - k))
    yield Step("halve", parts, parts * (cos(r) ** 2 + sin(r) ** 2))


@derives(square)
def of_two_numbers():
    """For all integers m and natural p."""
    yield Step("either part", binomial(m + p, m), binomial(m + p, p))
    yield Step("expand", 1 + x**2, (1 + x) ** 2 - 2 * x)


H = hypotheses(noise=Hypothesis("the noise is Gaussian", unbroken="it is what is drawn"))
theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=dict(settling=settling, falling=falling, mean=mean, common=common, halves=halves, square=square),
    proofs=(symmetric, with_a_factor, in_twice_as_many, in_a_recursion, in_a_square, of_two_numbers),
    experiments=dict(
        numbers=Experiment(
            padded=True,
            subjects={"evidence": Subject(build)},
            observe=observe,
            measures=(x, q),
            sweep={n: (33, 64, 127, 256)},
            draws=200,
        ),
        programs=Experiment(
            padded=True,
            subjects={"evidence": Subject(build)},
            observe=programs,
            measures=(whole, parts),
            sweep={n: (32,)},
            draws=4,
        ),
    ),
)
