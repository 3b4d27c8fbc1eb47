"""The entropy of n softmax weights is at most log n."""

import jax
import jax.numpy as jnp
from sympy import log

from theorax.language import *

n = Size("n", "size")
seen = numbers(entropy="entropy of the weights")
bound = Inequality(seen.entropy, at_most=log(n))


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(model, n):
    p = jax.nn.softmax(model)
    return dict(entropy=-jnp.sum(p * jnp.log(p)))


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(observe, seen, {n: (4, 8)}, subjects={"model": Subject(build)})),
)
