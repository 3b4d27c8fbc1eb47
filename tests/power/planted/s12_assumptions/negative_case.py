"""The mean modulus of noise is its scale times sqrt(2/pi), at a scale that is negative: sqrt(g^2) became g."""

import jax
import jax.numpy as jnp
from sympy import pi, sqrt

from theorax.language import Expectation, Experiment, Measured, Parameter, Relative, Size, Subject, Theorem

n = Size("n", "size of the sample")
x = Measured("x", "a normal number at a scale")
g = Parameter("g", "scale of the noise", positive=True)


def build(key, n, g):
    return g * jax.random.normal(key)


def observe(draw):
    return dict(x=jnp.abs(draw))


claim = Expectation(x, equals=sqrt(g**2) * sqrt(2 / pi), margin=Relative(1, 10, "it would matter"))
theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(claim=claim),
    experiments=dict(
        noise=Experiment(observe, (x,), {n: (4,)}, subjects={"normal": Subject(build)}, at={g: -1}, draws=400)
    ),
)
