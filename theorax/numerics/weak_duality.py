"""Weak duality of the regression with a tube: why its dual value is a lower bound of every feasible one."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Symbol, symbols

from theorax.language import Step, lemma

__all__ = ["weak_duality"]


@lemma
def weak_duality() -> Iterator[Step]:
    """Two samples in one dimension; samples and dimensions beyond add terms of the same form.

    Every term on the right is at least zero where the multipliers lie in [0, C], their differences sum to zero (or b is
    zero), and the slacks are at least zero and at least what lies outside the tube.
    """
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
