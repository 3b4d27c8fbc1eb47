"""A modulus least at the origin, where its letter is declared not to be."""

from sympy import Abs

from theorax.language import Absolute, Optimum, Parameter, Theorem

u = Parameter("u", "a weight", nonzero=True)
lowest = Optimum(Abs(u) + u**2, over={u: (-1, 1)}, at={u: 0}, margin=Absolute(1, 100, "it would matter"))
theorem = Theorem(place="nowhere", label="derived", claims=dict(lowest=lowest))
