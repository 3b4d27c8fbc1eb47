"""Bounds whose sides are one number in every draw: one program is measured twice, or a layer is dead. Planted."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "width")
seen = numbers(
    norm="norm of the output", bound="the bound that was meant: the same norm", dead="output behind a ReLU of -|x|",
    limit="twice that",
)  # fmt: skip


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(x):
    dead = jnp.sum(jax.nn.relu(-jnp.abs(x)))
    norm = jnp.linalg.norm(x)
    return dict(norm=norm, bound=norm, dead=dead, limit=2 * dead)


theorem = Theorem(
    place="Nowhere",
    label="derived",
    claims=dict(twice=Inequality(seen.norm, at_most=seen.bound), zero=Inequality(seen.dead, at_most=seen.limit)),
    experiments=dict(layer=Experiment(observe, seen, {n: 16}, draws=400, subjects={"normal": Subject(build)})),
)
