"""The least of x^2 over x >= 1 is called zero, by a point outside: the author forgot to say what is feasible."""

import jax
import jax.numpy as jnp

from theorax.language import Absolute, Experiment, Measured, Optimum, Size, Subject, Theorem

n = Size("n", "how many unknowns")
above = Measured("above", "value at the origin")
below = Measured("below", "minus a square")


def build(key, n):
    return jax.random.normal(key)


def observe(z):
    return dict(above=0.0 * z, below=-jnp.square(1e-3 * z))


least = Optimum(above, bound=below, margin=Absolute(1, 100, "it would matter"))
theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(least=least),
    experiments=dict(
        points=Experiment(observe, (above, below), {n: (3,)}, subjects={"normal": Subject(build)}, draws=4)
    ),
)
