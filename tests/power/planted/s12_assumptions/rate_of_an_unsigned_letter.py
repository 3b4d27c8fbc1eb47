"""A decay whose exponent was simplified for a positive letter and is asked for at a negative one."""

import jax
from sympy import sqrt

from theorax.language import Absolute, Corrections, Experiment, Measured, Parameter, Rate, Size, Subject, Theorem

n = Size("n", "size of the sample")
x = Measured("x", "a number that decays")
p = Parameter("p", "an exponent", positive=True)


def build(key, n, p):
    return n**p * (2 + jax.random.normal(key) / 10)


def observe(draw):
    return dict(x=draw)


decay = Rate(x, as_=n, like=n ** sqrt(p**2), approach=Corrections(), margin=Absolute(1, 5, "it would matter"))
theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(decay=decay),
    experiments=dict(
        numbers=Experiment(observe, (x,), {n: (4, 8)}, subjects={"normal": Subject(build)}, at={p: -1}, draws=40)
    ),
)
