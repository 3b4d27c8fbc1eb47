"""Least values and distances on boxes, stated in letters: wrong by a narrow dip, a far corner, a jump."""

from sympy import Abs, Max, Piecewise, Rational, exp, floor, sqrt

from theorax.language import *

u, v = Parameter("u", "a weight"), Parameter("v", "another")
fine = Absolute(1, 10**6, "it would matter")
far = Absolute(1, 10**3, "it would matter")

theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        # An honest error: the least of u^4 - u^2 is not at 7/10.
        beside=Optimum(u**4 - u**2, over={u: (0, 1)}, at={u: Rational(7, 10)}, margin=Absolute(1, 10**5, "fine")),
        corner=Optimum(u * v, over={u: (-1, 1), v: (-1, 1)}, at={u: 1, v: Rational(-9, 10)}, margin=far),
        narrow=Optimum(
            u**2 - 2 * exp(-((3000 * (u - Rational(1, 3))) ** 2)), over={u: (-1, 1)}, at={u: 0}, margin=far
        ),
        # An honest error: the other branch is lower.
        branch=Optimum(
            Piecewise((u**2, u < Rational(1, 3)), (u**2 - Rational(1, 3), True)), over={u: (-1, 1)}, at={u: 0}, margin=far
        ),
        # An honest error: the square root of two is irrational, not far.
        irrational=Impossibility(Abs(u**2 - 2), at_least=Rational(1, 10**6), over={u: (0, 2)}),
        never_half=Impossibility(Abs(u - floor(u) - Rational(1, 2)), at_least=Rational(1, 100), over={u: (0, 3)}),
        apart=Impossibility(Max(Abs(u - v), Abs(u + v - 1)), at_least=Rational(1, 10**4), over={u: (0, 1), v: (0, 1)}),
        by_a_hair=Impossibility((u - Rational(1, 3)) ** 2, at_least=Rational(1, 10**14), over={u: (0, 1)}),
        root=Impossibility(sqrt(u) + Abs(u - Rational(1, 7)), at_least=Rational(2, 5), over={u: (0, 1)}),
    ),
)  # fmt: skip
