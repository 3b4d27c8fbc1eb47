"""cos x is at least 1 - x^2/2 for x in [-1, 1]."""

from sympy import cos

from theorax.language import *

x = Parameter("x", "angle")
bound = Inequality(cos(x), at_least=1 - x**2 / 2, over={x: (-1, 1)})
theorem = Theorem(label="own", claims=dict(bound=bound))
