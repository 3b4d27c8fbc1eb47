"""Means, limits, sums and solutions as an author remembered them; the check computes each."""

import jax
import jax.numpy as jnp
import sympy
from sympy import Abs, Derivative, Function, Integral, Product, Rational, Subs, Sum, Symbol, exp, oo, pi, sqrt

from theorax.language import *

n = Size("n", "number of terms")
z, p = Symbol("z", real=True), Symbol("p", positive=True)
k, j = Symbol("k", integer=True, nonnegative=True), Symbol("j", integer=True, positive=True)
density = exp(-(z**2) / 2) / sqrt(2 * pi)
seen = numbers(
    four="z^4",
    size="|z|",
    compound="(1 + 1/n)^n",
    basel="the sum of 1/k^2",
    sum="the sum of k",
    root="a root",
    slope="a slope",
    count="a count",
    product="n!",
    below="is z below zero",
)
H = hypotheses(drawn=Hypothesis("z is standard normal", unbroken="nothing else is sampled here"))
near = Absolute(1, 20, "planted")
slow = Corrections(size=1, slowest=1, rest=1, order=2, reference=8, reason="planted")
fourth = Expectation(seen.four, 2, margin=near)
mean_size = Expectation(seen.size, 1, margin=near)
interest = Limit(seen.compound, 3, as_=n, margin=near, approach=slow)
basel = Limit(seen.basel, Rational(3, 2), as_=n, margin=near, approach=slow)
triangle = Rate(seen.sum, n**2 / 3, as_=n, margin=near, approach=Corrections())
roots = Limit(seen.root, 1, as_=n, margin=near, approach=slow)
steep = Limit(seen.slope, 2, as_=n, margin=near, approach=slow)
doubled = Limit(seen.count, 15, as_=n, margin=near, approach=slow)
powers = Limit(seen.product, 100, as_=n, margin=near, approach=slow)
half = Expectation(seen.below, Rational(1, 3), margin=near)


@derives(fourth)
def by_parts():
    """The fourth moment."""
    yield Step("E z^4", Integral(z**4 * density, (z, -oo, oo)), fourth.equals)


@derives(mean_size)
def folded():
    """The mean of |z|."""
    yield Step("E |z|", Integral(Abs(z) * density, (z, -oo, oo)), mean_size.equals)


@derives(interest)
def compounded():
    """Compound interest."""
    yield Step("its limit", sympy.Limit((1 + 1 / p) ** p, p, oo), interest.to)


@derives(basel)
def inverse_squares():
    """The inverse squares."""
    yield Step("their sum", Sum(1 / j**2, (j, 1, oo)), basel.to)


@derives(triangle)
def triangular_numbers():
    """The triangular numbers."""
    m = Symbol("m", integer=True, positive=True)
    yield Step("their sum", Sum(j, (j, 1, m)), m**2 / 3 + m / 3)
    yield Step("its growth", n**2 * sympy.Limit((m**2 / 3 + m / 3) / m**2, m, oo), triangle.like)


@derives(roots)
def all_roots():
    """A cubic with a root left out."""
    yield Solved("all roots of x^3 = x", z**3 - z, z, [0, roots.to])


@derives(steep)
def chain_rule():
    """A slope with a factor forgotten."""
    yield Step("the slope of e^(3 z) at zero", Subs(Derivative(exp(3 * z), z), z, 0), steep.to)


@derives(doubled)
def recursion():
    """A recursion solved by a formula off by one."""
    e = Function("e")
    yield Solved("doubling and one more, from zero", [e(k + 1) - 2 * e(k) - 1, e(0)], e(k), 2**k)
    yield Step("after four", Subs(2**k - 1, k, 4), doubled.to)


@derives(powers)
def product():
    """A factorial."""
    yield Step("five factors", Product(j, (j, 1, 5)), powers.to)


@derives(half)
def half_line():
    """The weight of a half line."""
    yield Step("P(z < 0)", Integral(density, (z, -oo, 0)), half.equals)


def build(key, n):
    return jax.random.normal(key), n


def observe(model):
    z, n = model
    size = jnp.asarray(float(n))
    terms = jnp.arange(1, n + 1)
    return dict(
        four=z**4,
        size=jnp.abs(z),
        compound=(1 + 1 / size) ** size,
        basel=(1.0 / terms**2).sum(),
        sum=1.0 * terms.sum(),
        root=1 + 0 * z,
        slope=3 + 0 * z,
        count=15 + 0 * z,
        product=120 + 0 * z,
        below=1.0 * (z < 0),
    )


derived = dict(
    fourth=fourth,
    mean_size=mean_size,
    interest=interest,
    basel=basel,
    triangle=triangle,
    roots=roots,
    steep=steep,
    doubled=doubled,
    powers=powers,
    half=half,
)
theorem = Theorem(
    place="planted",
    label="derived",
    hypotheses=H,
    claims=derived,
    proofs=(
        by_parts,
        folded,
        compounded,
        inverse_squares,
        triangular_numbers,
        all_roots,
        chain_rule,
        recursion,
        product,
        half_line,
    ),
    experiments=dict(numbers=Experiment(observe, seen, {n: (8, 16, 32)}, draws=4, subjects={"drawn": Subject(build)})),
)
