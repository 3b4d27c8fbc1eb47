"""A limit in a coefficient that the subject knows as negative and the claim as positive."""

import jax
from sympy import sqrt

from theorax.language import Corrections, Experiment, Limit, Measured, Parameter, Relative, Size, Subject, Theorem

n = Size("n", "size of the sample")
x = Measured("x", "a noisy number around two")
c = Parameter("c", "a coefficient", positive=True)


def build(key, n):
    return 2 + jax.random.normal(key) / 10


def observe(draw):
    return dict(x=draw)


to_c = Limit(x, as_=n, to=sqrt(c**2), approach=Corrections(), margin=Relative(1, 10, "it would matter"))
theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(to_c=to_c),
    experiments=dict(
        numbers=Experiment(observe, (x,), {n: (4, 8)}, subjects={"normal": Subject(build, knows={c: -2})}, draws=40)
    ),
)
