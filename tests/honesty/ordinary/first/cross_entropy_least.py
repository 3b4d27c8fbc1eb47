"""The cross entropy with 1/4 is least at p = 1/4."""

from sympy import Rational, log

from theorax.language import *

p = Parameter("p", "probability")
least = Optimum(
    -log(p) / 4 - 3 * log(1 - p) / 4,
    at={p: Rational(1, 4)},
    over={p: (Rational(1, 10), Rational(9, 10))},
    margin=Absolute(1, 10**6, "no larger value"),
)
theorem = Theorem(label="own", claims=dict(least=least))
