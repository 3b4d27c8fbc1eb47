"""The root of a square is the number itself, said of a letter that was called positive and ranges over both signs."""

from sympy import sqrt

from theorax.language import Inequality, Parameter, Theorem

s = Parameter("s", "an offset", positive=True)
below = Inequality(sqrt(s**2), at_most=s, over={s: (-2, 1)})
theorem = Theorem(place="nowhere", label="derived", claims=dict(below=below))
