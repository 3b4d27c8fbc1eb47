"""The squared error of an average over n keys is of order 1/n."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
error = Measured("error", "squared error", positive=True)
decays = Rate(
    error,
    1 / n,
    as_=n,
    margin=Absolute(1, 5, "a half is the next order"),
    approach=Corrections(size=Rational(1, 10), slowest=1, reason="corrections in 1/n"),
)


def build(key, n):
    return jax.random.normal(key, (n, 4))


def observe(model, n):
    return dict(error=jnp.sum(model.mean(0) ** 2))


theorem = Theorem(
    label="own",
    claims=dict(decays=decays),
    experiments=dict(e=Experiment(observe, error, {n: (16, 32, 64, 128)}, subjects={"model": Subject(build)})),
)
