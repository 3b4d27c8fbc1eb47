"""A ReLU keeps half of the second moment of a Gaussian."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
kept = Measured("kept", "mean square after ReLU")
mean = Expectation(kept, Rational(1, 2), margin=Relative(1, 10, "a tenth would matter"))


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(model, n):
    return dict(kept=jnp.mean(jax.nn.relu(model) ** 2))


theorem = Theorem(
    label="own",
    claims=dict(mean=mean),
    experiments=dict(e=Experiment(observe, kept, {n: 16}, draws=2000, subjects={"model": Subject(build)})),
)
