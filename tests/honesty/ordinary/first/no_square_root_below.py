"""No real x has x^2 + 1 at most 1/2."""

from sympy import Rational

from theorax.language import *

x = Parameter("x", "input")
bound = Inequality(x**2 + 1, at_least=Rational(1, 2), over={x: (-10, 10)})
theorem = Theorem(label="own", claims=dict(bound=bound))
