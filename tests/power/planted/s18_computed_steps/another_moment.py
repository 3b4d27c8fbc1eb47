"""The fourth moment of a normal variable is two, derived by its second moment."""

import jax
from sympy import Integral, Symbol, exp, oo, pi, sqrt

from theorax.language import *

n = Size("n", "nothing runs")
four = Measured("four", "z^4")
z = Symbol("z", real=True)
H = hypotheses(drawn=Hypothesis("z is standard normal", unbroken="nothing else is sampled here"))
claim = Expectation(four, 2, margin=Absolute(1, 20, "planted"))


@derives(claim)
def second():
    """The second moment."""
    yield Step("E z^2", Integral(z**2 * exp(-(z**2) / 2) / sqrt(2 * pi), (z, -oo, oo)), 1)


theorem = Theorem(
    place="planted",
    label="derived",
    hypotheses=H,
    claims=dict(claim=claim),
    proofs=(second,),
    experiments=dict(
        numbers=Experiment(
            lambda z: dict(four=z**4),
            four,
            {n: (1,)},
            draws=4,
            subjects={"drawn": Subject(lambda key, n: jax.random.normal(key))},
        )
    ),
)
