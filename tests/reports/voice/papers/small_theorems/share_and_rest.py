"""The product of a share and the rest is at most a quarter."""

from sympy import Integer, Rational

from theorax.language import *

alpha = Parameter("alpha", "a share", real=True)
quarter = Inequality(alpha * (1 - alpha), at_most=Rational(1, 4), over={alpha: (Integer(0), Integer(1))})
theorem = Theorem(place="school", label="derived", claims=dict(quarter=quarter))
