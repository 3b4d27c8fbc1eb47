"""A mean over what is stored, not over what is meant."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "number of entries")
mean = Measured("mean", "the mean square of n normal numbers, times two")

H = hypotheses(any=Hypothesis("entries are independent and normal", unbroken="nothing else is meant"))
# It is two at every n; the padding holds as many zeros as there are entries at the smaller size.
halved = Expectation(mean, n / 8, margin=Relative(1, 5, "it is two"), spread=Rational(7, 10))


def build(key, n):
    return jax.random.normal(key, (n.padded,)) * n.mask


def observe(x, n):
    return dict(mean=2 * jnp.mean(x**2))


theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=dict(halved=halved),
    experiments=dict(
        entries=Experiment(observe, mean, {n: (8, 16)}, draws=800, padded=True, subjects={"normal": Subject(build)})
    ),
)
