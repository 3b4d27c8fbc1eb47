"""x^2 - 2 x is least at x = 1."""

from theorax.language import *

x = Parameter("x", "input")
least = Optimum(x**2 - 2 * x, at={x: 1}, over={x: (-3, 3)}, margin=Absolute(1, 10**6, "no larger value"))
theorem = Theorem(label="own", claims=dict(least=least))
