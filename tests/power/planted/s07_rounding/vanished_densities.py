"""Events that float32 decides by numbers that vanish or are swallowed."""

import jax
import jax.numpy as jnp
from sympy import Eq, Le, Rational

from theorax.language import *

n = Size("n", "number of coordinates")
seen = numbers(
    first="the first coordinate",
    tilted="the first coordinate and the Gaussian density of the vector, up to a constant",
    total="the first coordinate and a small positive number",
    share="the share of the largest weight that the others leave",
    far="that share for weights so far apart that it is below every float",
)

H = hypotheses(any=Hypothesis("vectors are Gaussian", unbroken="nothing else is meant"))
few = Absolute(1, 50, "one vector in fifty")
# A density is positive everywhere.
vanishes = Probability(Le(seen.tilted, seen.first), 1, margin=few)
# A number and a positive one are more than the number.
swallowed = Probability(Le(seen.total, seen.first), 1, margin=few)
# A softmax never puts all weight on one entry.
alone = Probability(Eq(seen.share, 0), Rational(4, 5), margin=Absolute(1, 20, "half of the share left out"))
beyond = Probability(Eq(seen.far, 0), Rational(4, 5), margin=Absolute(1, 20, "half of the share left out"))


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(x, n):
    weights = jax.nn.softmax(8000.0 * jnp.abs(x))
    distant = jax.nn.softmax(800000.0 * jnp.abs(x))
    density = jnp.exp(-jnp.sum(x**2))
    return dict(
        first=x[0],
        tilted=x[0] + density,
        total=x[0] + jnp.abs(x[0]) * 1e-9,
        share=1 - jnp.max(weights),
        far=1 - jnp.max(distant),
    )


theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=dict(vanishes=vanishes, swallowed=swallowed, alone=alone, beyond=beyond),
    experiments=dict(
        vectors=Experiment(observe, seen, {n: 400}, draws=400, dtype="float32", subjects={"Gaussian": Subject(build)})
    ),
)
