"""Nothing comes nearer than one: sqrt(c^2) + 1 - c was simplified for a scale that is then negative as well."""

from sympy import Integer, sqrt

from theorax.language import Impossibility, Parameter, Theorem

c = Parameter("c", "a scale", nonnegative=True)
apart = Impossibility(1 + c - sqrt(c**2), at_least=Integer(1), over={c: (-1, 1)})
theorem = Theorem(place="nowhere", label="derived", claims=dict(apart=apart))
