"""The modulus of a mean of n Gaussian numbers is of order n^(-1/2)."""

import jax
import jax.numpy as jnp
from sympy import Rational, sqrt

from theorax.language import *

n = Size("n", "size")
error = Measured("error", "modulus of the mean", positive=True)
decays = Rate(
    error,
    1 / sqrt(n),
    as_=n,
    margin=Absolute(1, 5, "a half is the next order"),
    approach=Corrections(size=Rational(1, 10), slowest=1, reason="corrections in 1/n"),
)


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(model, n):
    return dict(error=jnp.abs(model.mean()))


theorem = Theorem(
    label="own",
    claims=dict(decays=decays),
    experiments=dict(e=Experiment(observe, error, {n: (16, 32, 64, 128)}, subjects={"model": Subject(build)})),
)
