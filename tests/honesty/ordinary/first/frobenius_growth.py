"""The Frobenius norm of an n x n Gaussian matrix grows like n."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
norm = Measured("norm", "Frobenius norm", positive=True)
decays = Rate(
    norm,
    n,
    as_=n,
    margin=Absolute(1, 5, "a half is the next order"),
    approach=Corrections(size=Rational(1, 10), slowest=1, reason="corrections in 1/n"),
)


def build(key, n):
    return jax.random.normal(key, (n, n))


def observe(model, n):
    return dict(norm=jnp.linalg.norm(model))


theorem = Theorem(
    label="own",
    claims=dict(decays=decays),
    experiments=dict(e=Experiment(observe, norm, {n: (8, 16, 32, 64)}, subjects={"model": Subject(build)})),
)
