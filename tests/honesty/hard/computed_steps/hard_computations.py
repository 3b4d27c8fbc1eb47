"""Traces of products, softmax of shifted scores, beside lemmas whose results are hard to find a second time."""

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy import Abs, Integral, Sum, Symbol, erf, exp, log, oo, pi, sqrt, symbols

from theorax.language import *

n = Size("n", "order of the matrices")
seen = arrays(
    trace="tr A B", other="tr B A", weights="softmax of the scores", shifted="softmax of the scores and a constant",
    square="|A B|^2", gram="tr A^T A B B^T", scaled="softmax of quotients", moved="the same, moved",
)  # fmt: skip
H = hypotheses(drawn=Hypothesis("the matrices are drawn independently", unbroken="nothing else is sampled here"))
margin = Relative(1, 10**6, "rounding stays far below it")
traces = Identity(seen.trace, seen.other, margin=margin)
shifts = Identity(seen.weights, seen.shifted, margin=margin)
squares = Identity(seen.square, seen.gram, margin=margin)
quotients = Identity(seen.scaled, seen.moved, margin=margin)


def build(key, n):
    return tuple(jax.random.normal(key, (2, n, n)))


def observe(model):
    A, B = model
    over = 1 + B[0, 0] ** 2
    return dict(
        trace=jnp.trace(A @ B), other=jnp.trace(B @ A), weights=jax.nn.softmax(A[0]), shifted=jax.nn.softmax(A[0] + B[0, 0]),
        square=((A @ B) ** 2).sum(), gram=jnp.trace(A.T @ A @ B @ B.T),
        scaled=jax.nn.softmax(A[0] / over), moved=jax.nn.softmax((A[0] + B[0, 1]) / over),
    )  # fmt: skip


@settles(traces, shifts, squares, quotients)
def generic(claim):
    """Any matrices of order two."""
    A, B = (np.array(symbols(f"{name}_:4"), dtype=object).reshape(2, 2) for name in "ab")
    yield Instance(claim, "order two", observe, (A, B))


@lemma
def singular_ends():
    """Integrals with singular ends, kinks, heavy tails; a sum that converges slowly."""
    x, k = Symbol("x", positive=True), Symbol("k", integer=True, positive=True)
    z = Symbol("z", real=True)
    yield Step("both ends", Integral(1 / sqrt(x * (1 - x)), (x, 0, 1)), pi)
    yield Step("a kink", Integral(Abs(z) * exp(-(z**2) / 2), (z, -oo, oo)), 2)
    yield Step("a heavy tail", Integral(1 / (1 + x) ** 2, (x, 0, oo)), 1)
    yield Step("a logarithm", Integral(log(x), (x, 0, 1)), -1)
    yield Step("an error function", Integral(erf(z) ** 2 * exp(-(z**2)), (z, -oo, oo)), sqrt(pi) / 3)
    yield Step("inverse squares", Sum(1 / k**2, (k, 1, oo)), pi**2 / 6)


@lemma
def slow_limits():
    """Limits that are reached slowly, and one that no second route reaches."""
    x, a = Symbol("x", positive=True), Symbol("a", positive=True)
    yield Step("like 1/log x", sympy.Limit(1 / log(x), x, oo), 0)
    yield Step("like 1/log log x", sympy.Limit(1 / log(log(x)), x, oo), 0)
    yield Step("a power", sympy.Limit(x ** (1 / x), x, oo), 1)
    yield Step("an exponential", sympy.Limit((1 + a / x) ** x, x, oo), exp(a))
    yield Step("a cancellation", sympy.Limit(sqrt(x**2 + x) - x, x, oo), sympy.Rational(1, 2))


@lemma
def counted_roots():
    """Roots with radicals, a double root, a linear system with a parameter."""
    x, y, a = symbols("x y a", real=True)
    yield Solved("a quadratic", x**2 - x - 1, x, [(1 + sqrt(5)) / 2, (1 - sqrt(5)) / 2])
    yield Solved("a double root", (x - 1) ** 2 * (x + 2), x, [1, -2])
    yield Solved("a line and a plane", [x + y - a, x - y - 1], [x, y], [{x: (a + 1) / 2, y: (a - 1) / 2}])


theorem = Theorem(
    place="true", label="derived", hypotheses=H,
    claims=dict(traces=traces, shifts=shifts, squares=squares, quotients=quotients),
    proofs=(generic, singular_ends, slow_limits, counted_roots),
    experiments=dict(matrices=Experiment(observe, seen, {n: (2,)}, draws=2, subjects={"drawn": Subject(build)})),
)  # fmt: skip
