"""Exact means of products of four entries of the laws of the weights, derived step by step."""

from __future__ import annotations

from collections.abc import Iterator

import sympy
from sympy import Derivative, Integral, Matrix, Rational, Subs, Symbol, exp, oo, sqrt, symbols

from theorax.language import Cited, Solved, Step, lemma
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._ensembles import crossed, n


@lemma
def haar() -> Iterator[Step | Cited | Solved]:
    """Orthogonal matrices of every order: the Gram matrix of the three pairings, inverted."""
    gram = Matrix(3, 3, lambda i, j: n**2 if i == j else n)
    equal, unequal = symbols("equal unequal")
    weights = {equal: (n + 1) / (n * (n - 1) * (n + 2)), unequal: -1 / (n * (n - 1) * (n + 2))}
    first = gram * Matrix([equal, unequal, unequal]) - Matrix([1, 0, 0])
    yield Solved("weights of equal and of unequal pairings", list(first[:2]), [equal, unequal], [weights])
    inverse = Matrix(3, 3, lambda i, j: weights[equal if i == j else unequal])
    products = setting.haar_products(n)
    # An entry of the index pattern is the sum of the weights over the pairings that its rows and its columns admit.
    # One entry admits every pairing, one row every pairing of rows and one of columns, two rows one, the same one or another.
    admitted = [sum(inverse), sum(inverse[:, 0]), inverse[0, 0], inverse[0, 1]]
    patterns = [products[name] for name in ("fourth", "own", "across", "crossed")]
    yield Step("one entry, one row, two rows, crossed", [n**2 * weight for weight in admitted], patterns)


@lemma
def low_rank() -> Iterator[Step | Cited | Solved]:
    """Every rank r of a Haar frame in dimension n, Gaussian coefficients of variance 1/r; n is the number of units."""
    r, pair, other = Symbol("r", positive=True), *map(Symbol, ("pair", "other"))
    yield Cited(
        "a diagonal entry of a Haar projection of rank r is Beta(r/2, (n - r)/2)", "Muirhead 1982, theorem 3.3.3"
    )
    # E x^2 of Beta(p, q) is p (p + 1)/((p + q)(p + q + 1)).
    squared = (r / 2) * (r / 2 + 1) / ((n / 2) * (n / 2 + 1))
    products = setting.low_rank_products(n, r)
    yield Step("one row: both columns are Gaussian given the frame", n**2 / r**2 * squared, products["own"])
    trace, square = (n * squared + n * (n - 1) * mean - power for mean, power in ((pair, r**2), (other, r)))
    yield Solved("two rows, from (trace)^2 = r^2", trace, pair, [products["across"] * r**2 / n**2])
    yield Solved("crossed, from trace of the square = r", square, other, [products["crossed"] * r**2 / n**2])
    for name, value in (("own", 1 + 2 / r), ("across", 1), ("crossed", 1 / r)):
        yield Step(f"at a fixed rank {name} tends elsewhere", sympy.Limit(products[name], n, oo), value)


@lemma
def blocks() -> Iterator[Step]:
    """Every number b of equal blocks, m units, n inputs: a row keeps n/b of its columns."""
    b, m = symbols("b m", positive=True)
    k, side, products = n / b, m / b, setting.block_products(n, b, m)
    within = b**2 * k * (k - 1) / (n * (n - 1))
    yield Step("one row", within, products["own"])
    # Kept entries of two rows and two columns: all pairs of kept entries less those in one row or one column.
    kept = m * k
    others = kept**2 - m * k**2 - n * side**2 + kept
    yield Step("two rows", b**2 * others / (n * (n - 1) * m * (m - 1)), products["across"])


@lemma
def hadamard() -> Iterator[Step | Cited | Solved]:
    """Every order: entries are +-1 over sqrt n and rows are orthogonal."""
    crossed_sum = Symbol("crossed_sum")
    squared = n * n**-2 + n * (n - 1) * crossed_sum  # (sum_j W_aj W_cj)^2 = 0
    yield Solved("crossed", squared, crossed_sum, [setting.HADAMARD.knows[crossed] / n**2])


@lemma
def uniform_entries() -> Iterator[Step]:
    """Every number n of uniform entries, all in one direction: E (sum)^8 over n^4 from their cumulants."""
    s, u, edge = Symbol("s"), Symbol("u", real=True), sqrt(3)
    cumulants = s**2 / 2 - s**4 / 20 + s**6 / 105 - 3 * s**8 / 1400
    orders = (2, 4, 6, 8)
    found = [Subs(Derivative(exp(cumulants), (s, order)), s, 0) for order in orders]
    yield Step("one entry", found, [Integral(u**order / (2 * edge), (u, -edge, edge)) for order in orders])
    eighth = Subs(Derivative(exp(n * cumulants), (s, 8)), s, 0) / n**4
    yield Step("n entries", eighth, 105 - 252 / n + Rational(1212, 5) / n**2 - Rational(432, 5) / n**3)
