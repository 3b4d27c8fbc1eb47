"""The product of two numbers is at most the square of their mean."""

from theorax.language import *

x = Parameter("x", "first")
y = Parameter("y", "second")
bound = Inequality(x * y, at_most=(x + y) ** 2 / 4, over={x: (-2, 2), y: (-2, 2)})
theorem = Theorem(label="own", claims=dict(bound=bound))
