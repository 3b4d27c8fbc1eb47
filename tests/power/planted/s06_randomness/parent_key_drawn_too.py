"""Weights from a key and noise from its halves, with the rate of a mean that seems not to fade."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "width")
overlap = Measured("overlap", "mean of w v squared", positive=True)
CLASS = Corrections(size=0.05, slowest=1, reason="wider than what is claimed needs")


def build(key, n):
    first, second = jax.random.split(key)
    return jax.random.normal(key, (n,)), jax.random.normal(first, (n,)) + jax.random.normal(second, (n,))


def observe(model):
    return dict(overlap=jnp.mean(model[0] * model[1]) ** 2)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(flat=Rate(overlap, 1, as_=n, approach=CLASS, margin=Absolute(1, 4, "1/n is one away"))),
    experiments=dict(nets=Experiment(observe, overlap, {n: (8, 16, 32)}, draws=800, subjects={"net": Subject(build)})),
)
