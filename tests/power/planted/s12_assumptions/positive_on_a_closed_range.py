"""A positive variance over a range that holds zero: an honest slip of an end."""

from sympy import Rational, sqrt

from theorax.language import Inequality, Parameter, Theorem

v = Parameter("v", "a variance", positive=True)
spread = Inequality(sqrt(v), at_least=v / 2, over={v: (0, Rational(3, 2))})
theorem = Theorem(place="nowhere", label="derived", claims=dict(spread=spread))
