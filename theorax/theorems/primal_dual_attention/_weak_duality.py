"""Weak duality of the regression with a tube: why its dual value is a lower bound of every feasible one."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Symbol, symbols, transpose

from theorax.language import MatrixStep, Step, generic_matrices, lemma

__all__ = ["weak_duality"]


@lemma
def weak_duality() -> Iterator[Step | MatrixStep]:
    """Any number of samples and dimensions, as matrices; two samples in one dimension, written out.

    Every term on the right is at least zero where the multipliers lie in [0, C], their differences sum to zero (or b is
    zero), and the slacks are at least zero and at least what lies outside the tube.
    """
    yield _every_size()
    w, b, x, X, y, Y = symbols("w b x_1 x_2 y_1 y_2", real=True)
    a, A, t, T, s, S, z, Z = symbols("a_1 a_2 t_1 t_2 s_1 s_2 z_1 z_2", nonnegative=True)
    C, eps = Symbol("C", positive=True), Symbol("eps", nonnegative=True)
    expanded = (a - t) * x + (A - T) * X
    primal = w**2 / 2 + C * (s + S + z + Z)
    dual = -(expanded**2) / 2 + (a - t) * y + (A - T) * Y - eps * (a + A + t + T)
    rest = (w - expanded) ** 2 / 2 - b * (a - t + A - T)
    for above, below, over, under, off in ((a, t, s, z, y - w * x - b), (A, T, S, Z, Y - w * X - b)):
        rest += (C - above) * over + above * (over - off + eps) + (C - below) * under + below * (under + off + eps)
    yield Step("the primal value less the dual one, as a sum of what is never negative", primal - dual, rest)


def _every_size() -> MatrixStep:
    """The same between columns: rows of X are the samples, u is all ones, slacks are s and z."""
    X, w, u, y, a, t, s, z = generic_matrices("X w u y a t s z")
    b, C, eps = Symbol("b", real=True), Symbol("C", positive=True), Symbol("eps", nonnegative=True)
    beta, off = a - t, y - X * w - b * u
    # A number is equal to its transpose.
    numbers = tuple((transpose(p) * q, transpose(q) * p) for p in (a, t) for q in (u, y, s, z, X * w))
    numbers += tuple((transpose(p) * u, transpose(u) * p) for p in (s, z))
    primal = transpose(w) * w / 2 + C * transpose(u) * (s + z)
    dual = transpose(y) * beta - transpose(beta) * X * transpose(X) * beta / 2 - eps * transpose(u) * (a + t)
    square = transpose(w - transpose(X) * beta) * (w - transpose(X) * beta) / 2
    tube = transpose(a) * (eps * u + s - off) + transpose(t) * (eps * u + z + off)
    box = transpose(C * u - a) * s + transpose(C * u - t) * z
    rest = square + tube + box - b * transpose(u) * beta
    return MatrixStep("between any columns", primal - dual, rest, numbers)
