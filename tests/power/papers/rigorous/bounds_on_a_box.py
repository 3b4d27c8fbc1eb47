"""The geometric mean lies below the arithmetic one, with a gap that is known exactly."""

from sympy import Integer, Rational, cos

from theorax.language import Absolute, Inequality, Parameter, Theorem

x = Parameter("x", "the first number")
y = Parameter("y", "the second number")
GAP = Rational(1, 1000)
BOX = {x: (Rational(1, 3), 2), y: (Rational(1, 3), 2)}
ANGLES = {x: (Rational(1, 10), 1)}

theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        true=Inequality(x * y, at_most=(x**2 + y**2) / 2 + GAP, over=BOX),
        false=Inequality(x * y, at_most=(x**2 + y**2) / 2 - GAP / 2, over=BOX),
        vacuous=Inequality(cos(x), at_most=1 + x**2, trivial=Integer(1), over=ANGLES),
        touching=Inequality(x * y, at_most=(x**2 + y**2) / 2, over=BOX, margin=Absolute(1, 1000, "equal where x = y")),
    ),
)
