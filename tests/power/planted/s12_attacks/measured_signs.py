"""Measured letters are assumed to be positive where they are not; SymPy rewrites the claims before any look."""

import jax
from sympy import Abs, Rational

from theorax.language import *

n = Size("n", "number of draws in a row")
z = Measured("z", "a normal number", positive=True)
w = Measured("w", "the same, called nonnegative", nonnegative=True)
H = hypotheses(drawn=Hypothesis("normal draws", unbroken="nothing else is meant"))
far = Absolute(1, 10, "four fifths are away")

theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=dict(
        below=Inequality(-Abs(w), at_most=0, content=Rational(1, 20)),
    ),
    experiments=dict(
        draws=Experiment(
            lambda model: dict(z=model[0], w=model[0]),
            (z, w), {n: 4}, draws=2000,
            subjects={
                "normal": Subject(lambda key, n: (jax.random.normal(key),))
            },
        )
    ),
)  # fmt: skip
