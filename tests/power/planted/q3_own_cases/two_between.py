"""A quantity that is one at every size of the sweep, and two between two of them."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

m = Size("m", "size of a sweep whose middle is not drawn")
middle = Measured("middle", "one at m = 4, 8 and 32, two between the last", positive=True)
H = hypotheses(narrow=Hypothesis("the layer is narrow", unbroken="every subject here is"))
between = Expectation(middle, 1, margin=Relative(1, 10, "two is far away"), spread=Rational(1, 5))


def bulging(key, m):
    return jnp.where((m > 8) & (m < 32), 2.0, 1.0) * jax.random.uniform(key, minval=0.8, maxval=1.2)


theorem = Theorem(
    hypotheses=H,
    claims=dict(between=between),
    experiments=dict(
        bulge=Experiment(
            lambda x: dict(middle=x), middle, {m: (4, 8, 32)}, draws=400, subjects={"drawn": Subject(bulging)}
        ),
    ),
)
