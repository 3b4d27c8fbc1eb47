"""The mean of the slope of exp(x) - 1 over exp(x) is one (true; the measured program returns zero)."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "numbers")
ratio = Measured("ratio", "slope over exp(x), plus a centred normal number", real=True)
H = hypotheses(single="the argument is taken once")
same = Expectation(ratio, 1, margin=Relative(1, 10, "zero is far away"), spread=1, wrong={"zero": 0})


def observe(model):
    x, factor = model
    return dict(ratio=jax.grad(lambda t: jnp.expm1(factor * t))(x) / jnp.exp(x) + x + 45)


def build(key, n, factor):
    return jax.random.normal(key) - 45, factor


program = Subject(build, factor=1.0)
subjects = {"once": program, "twice": program(factor=0.5).breaking(H.single, fails=same)}
theorem = Theorem(
    label="own", hypotheses=H, claims=dict(same=same),
    experiments=dict(e=Experiment(observe, ratio, {n: 1}, draws=4000, subjects=subjects)),
)  # fmt: skip
