"""A bound that is said to be proved by a lemma of another theorem."""

import jax
import jax.numpy as jnp

from theorax.language import Absolute, Experiment, Measured, Optimum, Size, Subject, Theorem

n = Size("n", "how many unknowns")
above = Measured("above", "value at one")
below = Measured("below", "a number below it")


def build(key, n):
    return jax.random.normal(key)


def observe(z):
    return dict(above=1 + 0.0 * z, below=1 - jnp.square(1e-3 * z))


least = Optimum(
    above,
    bound=below,
    bound_by="weak_duality",
    unconstrained_because="every number is admitted",
    margin=Absolute(1, 100, "it would matter"),
)
theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(least=least),
    experiments=dict(
        points=Experiment(observe, (above, below), {n: (3,)}, subjects={"normal": Subject(build)}, draws=4)
    ),
)
