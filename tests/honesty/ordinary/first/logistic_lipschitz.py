"""The slope of tanh is at most 1."""

from sympy import tanh

from theorax.language import *

x = Parameter("x", "input")
bound = Inequality(1 - tanh(x) ** 2, at_most=1, over={x: (-3, 3)})
theorem = Theorem(label="own", claims=dict(bound=bound))
