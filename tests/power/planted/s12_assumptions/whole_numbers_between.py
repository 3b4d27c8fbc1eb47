"""An identity of whole numbers, sin(pi k) = 0, over a range of real ones."""

from sympy import Rational, pi, sin

from theorax.language import Inequality, Parameter, Theorem

k = Parameter("k", "a frequency", integer=True)
flat = Inequality(sin(pi * k) ** 2, at_most=Rational(1, 10), over={k: (0, 3)})
theorem = Theorem(place="nowhere", label="derived", claims=dict(flat=flat))
