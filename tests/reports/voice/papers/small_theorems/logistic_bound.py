"""A share, the rest and a Gaussian factor multiply to at most a quarter."""

from sympy import Integer, Rational, exp

from theorax.language import *

x = Parameter("x", "a share", real=True)
quarter = Inequality(x * (1 - x) * exp(-(x**2)), at_most=Rational(1, 4), over={x: (Integer(0), Integer(1))})
theorem = Theorem(place="school", label="derived", claims=dict(quarter=quarter))
