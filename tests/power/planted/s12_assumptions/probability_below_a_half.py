"""Any scale below one, said for the scale two: (1 - g) > 0 was put in."""

import jax
from sympy import Abs, Rational

from theorax.language import Absolute, Experiment, Measured, Parameter, Probability, Size, Subject, Theorem

n = Size("n", "size of the sample")
x = Measured("x", "a normal number at a scale")
g = Parameter("g", "scale of the noise", positive=True, integer=False)


def build(key, n, g):
    return g * jax.random.normal(key)


def observe(draw):
    return dict(x=draw)


claim = Probability(Abs(x) < 10 * g, at_least=Rational(9, 10), margin=Absolute(1, 20, "it would matter"))
theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(claim=claim),
    experiments=dict(
        noise=Experiment(observe, (x,), {n: (4,)}, subjects={"normal": Subject(build)}, at={g: 2}, draws=400)
    ),
)
