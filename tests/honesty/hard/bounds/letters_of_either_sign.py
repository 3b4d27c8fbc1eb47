"""Ranges that touch what their letters are assumed to be, and squares of letters of either sign."""

from sympy import Abs, Rational, sqrt

from theorax.language import Inequality, Parameter, Theorem

r = Parameter("r", "a number")
v = Parameter("v", "a variance", nonnegative=True)
w = Parameter("w", "a width", positive=True)
theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        either=Inequality(sqrt(r**2), at_most=Abs(r) + Rational(1, 100), over={r: (-1, 1)}),
        touching=Inequality(sqrt(v**2), at_most=v + Rational(1, 100), over={v: (0, 1)}),
        inside=Inequality(1 / w, at_most=11, over={w: (Rational(1, 10), 1)}),
    ),
)
