"""A Runge-Kutta-Fehlberg step with the weights of order four, declared to be of order five (false)."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "steps on the unit interval")
error = Measured("error", "error at the end", positive=True)
H = hypotheses(smooth="the right-hand side is smooth")
order = Rate(
    error, n**-5, as_=n, margin=Absolute(1, 4, "the neighbouring orders are one away"),
    approach=Expansion(
        powers=(1,), rest=Rational(1, 8), order=2, reference=8, reason="a smooth solution has an error expansion in the step"
    ),
)  # fmt: skip

# Fehlberg's stages: when each is evaluated, and the weights of those before it.
STAGES = (
    (0, ()),
    (1 / 4, (1 / 4,)),
    (3 / 8, (3 / 32, 9 / 32)),
    (12 / 13, (1932 / 2197, -7200 / 2197, 7296 / 2197)),
    (1, (439 / 216, -8, 3680 / 513, -845 / 4104)),
    (1 / 2, (-8 / 27, 2, -3544 / 2565, 1859 / 4104, -11 / 40)),
)
WEIGHTS = (25 / 216, 0, 1408 / 2565, 2197 / 4104, -1 / 5, 0)


def combined(weights, slopes):
    return sum((weight * slope for weight, slope in zip(weights, slopes, strict=True)), 0.0)


def step(slope, t, y, h):
    slopes = []
    for at, weights in STAGES:
        slopes.append(slope(t + at * h, y + h * combined(weights, slopes)))
    return y + h * combined(WEIGHTS, slopes)


def build(key, n, rough):
    return rough


def observe(rough, n):
    def slope(t, y):
        return -y + jnp.cos(3 * t) + rough * jnp.sign(t - 0.3)

    y = jax.lax.fori_loop(0, n, lambda i, y: step(slope, i / n, y, 1 / n), jnp.asarray(1.0))
    exact = 0.9 * jnp.exp(-1.0) + (jnp.cos(3.0) + 3 * jnp.sin(3.0)) / 10
    jump = 1 - 2 * jnp.exp(0.3 - 1) + jnp.exp(-1.0)
    return dict(error=jnp.abs(y - exact - rough * jump))


solver = Subject(build, rough=0.0)
subjects = {"smooth": solver, "a jump": solver(rough=1.0).breaking(H.smooth, fails=order)}
theorem = Theorem(
    label="own", hypotheses=H, claims=dict(order=order),
    experiments=dict(e=Experiment(observe, error, {n: (8, 16, 32, 64)}, draws=1, seeds="none", subjects=subjects)),
)  # fmt: skip
