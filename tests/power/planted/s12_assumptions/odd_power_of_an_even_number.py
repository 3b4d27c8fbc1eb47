"""(-1)^g is one for an even g; the case has g = 3."""

import jax
from sympy import Integer

from theorax.language import Expectation, Experiment, Measured, Parameter, Relative, Size, Subject, Theorem

n = Size("n", "size of the sample")
x = Measured("x", "a normal number at a scale")
g = Parameter("g", "scale of the noise", even=True, integer=True)


def build(key, n, g):
    return g * jax.random.normal(key)


def observe(draw):
    return dict(x=draw**2)


claim = Expectation(x, equals=9 * (-Integer(1)) ** g, margin=Relative(1, 5, "it would matter"))
theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(claim=claim),
    experiments=dict(
        noise=Experiment(observe, (x,), {n: (4,)}, subjects={"normal": Subject(build)}, at={g: 3}, draws=400)
    ),
)
