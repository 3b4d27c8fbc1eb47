"""A mean is settled by a binomial formula."""

from sympy import Symbol

from theorax.language import *

n = Size("n", "a size")
x = Measured("x", "a number")
t = Symbol("t")
claim = Expectation(x, 2, margin=Absolute(1, 10, "planted"))


@settles(claim)
def proof():
    """Everything."""
    yield Step("a binomial formula", (t + 1) ** 2, t**2 + 2 * t + 1)


theorem = Theorem(place="planted", label="derived", claims=dict(claim=claim), proofs=(proof,))
