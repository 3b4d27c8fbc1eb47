"""Keys that a loop splits and folds, and a data set that every draw shares: the mean of what is drawn is one."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "steps")
seen = numbers(walk="mean square of the steps of a walk", drawn="mean of Poisson numbers and of squares by their names")


def build(key, n):
    first, second = jax.random.split(key)

    def step(key, _):
        key, own = jax.random.split(key)
        return key, jax.random.normal(own)

    data = jax.random.normal(jax.random.key(7), (n,))
    named = jax.vmap(lambda i: jax.random.normal(jax.random.fold_in(second, i)))(jnp.arange(n))
    counts = jax.random.poisson(jax.random.fold_in(second, n), 1.0, (n,))
    return jax.lax.scan(step, first, length=n)[1], named * jnp.sign(data), counts


def observe(model):
    steps, named, counts = model
    return dict(walk=jnp.mean(steps**2), drawn=(jnp.mean(named**2) + jnp.mean(1.0 * counts)) / 2)


near = dict(margin=Relative(1, 10, "a key used twice would be much farther"), spread=Rational(1, 4))
theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(walk=Expectation(seen.walk, 1, **near), drawn=Expectation(seen.drawn, 1, **near)),
    experiments=dict(
        loops=Experiment(
            observe, seen, {n: 32}, draws=800,
            subjects={"loop": Subject(build, quenched="one set of signs, which no square sees")},
        )
    ),
)  # fmt: skip
