"""softplus x is at least (x + |x|)/2, here for x in [-4, 4]."""

from sympy import exp, log

from theorax.language import *

x = Parameter("x", "input")
bound = Inequality(log(1 + exp(x)), at_least=x / 2, over={x: (-4, 4)})
theorem = Theorem(label="own", claims=dict(bound=bound))
