"""A derivative that passes over a part of what is computed, by stop_gradient and straight through steps."""

import jax
import jax.numpy as jnp
from jax.lax import stop_gradient
from sympy import Ge, Rational

from theorax.language import *

n = Size("n", "number of weights")
seen = numbers(
    part="the slope of w times its own value, over w",
    scale="the slope of the norm of a normalised vector, along the vector",
    rounded="the mean slope of rounding to whole numbers",
)
sides = arrays(gradient="the gradient of the sum of w w", weight="w")

H = hypotheses(any=Hypothesis("weights are drawn uniformly", unbroken="nothing else is meant"))
# It is two: both factors move.
one = Expectation(seen.part, 1, margin=Relative(1, 10, "a half off"), spread=Rational(1, 5))
# A normalised vector does not change along itself.
grows = Probability(Ge(seen.scale, Rational(1, 2)), 1, margin=Absolute(1, 50, "one draw in fifty"))
# Rounding has slope zero wherever it has one.
through = Limit(
    seen.rounded, as_=n, to=1, margin=Relative(1, 10, "it is zero"), spread=Rational(1, 5),
    approach=Corrections(size=0.02, slowest=1, rest=0.02, order=1, reference=8, reason="a mean over n"),
)  # fmt: skip
same = Identity(sides.gradient, sides.weight, margin=Relative(1, 10**6, "rounding"))


def straight(w):
    return w + stop_gradient(jnp.round(w) - w)


def build(key, n):
    return jax.random.uniform(key, (n,), minval=0.6, maxval=1.4)


def observe(w, n):
    length = jnp.sqrt(jnp.sum(w**2))
    along = jax.jvp(lambda w: jnp.sqrt(jnp.sum((w / stop_gradient(jnp.sqrt(jnp.sum(w**2)))) ** 2)), (w,), (w,))[1]
    slopes = jax.vmap(jax.grad(straight))(w)
    return dict(
        part=jax.grad(lambda w: w * jax.lax.stop_gradient(w))(w[0]) / w[0] + (w[1] - 1) / 2,
        scale=along + 0 * length + w[0] / 10,
        rounded=jnp.mean(slopes * w),
    )


def compare(w, n):
    return dict(gradient=jax.grad(lambda w: jnp.sum(w * stop_gradient(w)))(w), weight=w)


theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=dict(one=one, grows=grows, through=through, same=same),
    experiments=dict(
        slopes=Experiment(observe, seen, {n: (8, 16, 32)}, draws=600, subjects={"uniform": Subject(build)}),
        entries=Experiment(compare, sides, {n: 3}, draws=4, subjects={"uniform": Subject(build)}),
    ),
)
