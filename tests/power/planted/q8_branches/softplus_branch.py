"""The stable softplus of a framework, linear above 20, is log(1 + e^x)."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "width")
seen = arrays(stable="linear above a threshold", exact="log(1 + e^x)")
same = Identity(
    seen.stable, seen.exact, margin=Relative(1, 10**12, "a difference of a part in a million million would be seen")
)


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(x):
    return dict(stable=jnp.where(x > 5, x, jnp.log1p(jnp.exp(x))), exact=jnp.log1p(jnp.exp(x)))


theorem = Theorem(
    label="own",
    claims=dict(same=same),
    experiments=dict(e=Experiment(observe, seen, {n: (4, 8)}, draws=276, subjects={"inputs": Subject(build)})),
)
