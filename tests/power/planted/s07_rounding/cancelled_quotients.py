"""Differences of nearly equal float32 numbers, believed as they come out."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "one over the step")
seen = numbers(
    slope="the forward quotient of the square root, step 1e-9, beside noise",
    curve="(1 - cos t) / t^2, t of order 1/n, beside noise",
)
error = Measured("error", "the error of the forward quotient of exp, step 1/n", positive=True)
angles = numbers(angle="a small positive x", sine="its sine")

H = hypotheses(any=Hypothesis("steps are drawn uniformly", unbroken="nothing else is meant"))
# The slope is a half at one; the numerator is a multiple of 6e-8.
flat = Expectation(seen.slope, 0, margin=Absolute(1, 10, "a slope"), spread=Rational(1, 3))
# The limit is one half.
even = Limit(
    seen.curve, as_=n, to=0, margin=Absolute(1, 10, "a fifth of the true limit"), spread=Rational(1, 3),
    approach=Corrections(size=0.01, slowest=1, rest=0.01, order=1, reference=8192, reason="it is even in t"),
)  # fmt: skip
# It falls like 1/n in real numbers.
growing = Rate(
    error, n, as_=n, margin=Absolute(1, 2, "half an order"), spread=Rational(1, 10),
    approach=Corrections(size=0.05, slowest=1, rest=0.05, order=1, reference=8192, reason="the second derivative"),
)  # fmt: skip
# x > sin x for every positive x.
below = Inequality(angles.angle, at_most=angles.sine, content=Rational(1, 50))


def build(key, n):
    one, two, three = jax.random.split(key, 3)
    return jax.random.uniform(one, (), minval=0.5), jax.random.normal(two, ()), jax.random.uniform(three, (256,))


def observe(model, n):
    u, noise, points = model
    step, t, x = u * 1e-9, u / n, u * 1e-5
    base = 1 + points[0]
    quotient = (jnp.exp(points + 1 / n) - jnp.exp(points)) * n
    return dict(
        slope=(jnp.sqrt(base + step) - jnp.sqrt(base)) / step + noise / 4,
        curve=(1 - jnp.cos(t)) / t**2 + noise / 4,
        error=jnp.mean(jnp.abs(quotient - jnp.exp(points))),
        angle=x,
        sine=jnp.sin(x),
    )


theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=dict(flat=flat, even=even, growing=growing, below=below),
    experiments=dict(
        steps=Experiment(
            observe,
            (seen, error, angles),
            {n: (8192, 16384, 32768)},
            draws=500,
            dtype="float32",
            subjects={"steps": Subject(build)},
        )
    ),
)
