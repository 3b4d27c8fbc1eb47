"""sin x is at most x for x in [0, 2]."""

from sympy import sin

from theorax.language import *

x = Parameter("x", "angle")
bound = Inequality(sin(x), at_most=x, over={x: (0, 2)})
theorem = Theorem(label="own", claims=dict(bound=bound))
