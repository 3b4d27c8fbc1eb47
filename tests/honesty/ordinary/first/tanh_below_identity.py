"""tanh x is at most x for x in [0, 3]."""

from sympy import tanh

from theorax.language import *

x = Parameter("x", "input")
bound = Inequality(tanh(x), at_most=x, over={x: (0, 3)})
theorem = Theorem(label="own", claims=dict(bound=bound))
