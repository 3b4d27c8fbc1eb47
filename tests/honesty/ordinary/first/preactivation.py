"""A pre-activation of a wide ReLU layer is Gaussian of variance 1."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
x = Measured("x", "the number observed")
law = Law(
    x,
    gaussian(1),
    as_=n,
    approach=Expansion(powers=(1,), rest=Rational(1, 20), order=2, reference=8, reason="an Edgeworth expansion"),
)


def build(key, n):
    keys = jax.random.split(key)
    return jax.random.normal(keys[0], (n,)), jax.random.normal(keys[1], (n,))


def observe(model, n):
    w, z = model
    return dict(x=jnp.sqrt(2 / n) * jnp.sum(w * jax.nn.relu(z)))


theorem = Theorem(
    label="own",
    claims=dict(law=law),
    experiments=dict(e=Experiment(observe, x, {n: (16, 32, 64)}, draws=2000, subjects={"model": Subject(build)})),
)
