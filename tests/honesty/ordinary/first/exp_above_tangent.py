"""e^x is at least 1 + x for x in [-1, 1]."""

from sympy import exp

from theorax.language import *

x = Parameter("x", "input")
bound = Inequality(exp(x), at_least=1 + x, over={x: (-1, 1)})
theorem = Theorem(label="own", claims=dict(bound=bound))
