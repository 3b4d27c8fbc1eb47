"""The entropy of a coin is at most log 2."""

from sympy import Rational, log

from theorax.language import *

p = Parameter("p", "probability")
bound = Inequality(-p * log(p) - (1 - p) * log(1 - p), at_most=log(2), over={p: (Rational(1, 100), Rational(99, 100))})
theorem = Theorem(label="own", claims=dict(bound=bound))
