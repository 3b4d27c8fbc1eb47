"""Identities of few networks, of rare parts, and of entries that a large one hides."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "number of entries")
seen = arrays(
    relu="positive parts",
    clipped="positive parts, at most 5/2",
    gradient="an entry of 10^8 and the entries",
    kept="an entry of 10^8 and the entries that are not negative",
    order="ranks",
    stable="ranks where entries nearer than 1/50 tie",
)
MARGIN = Relative(1, 10**6, "rounding stays below it")


def build(key, n):
    return jax.random.normal(key, (n,))


def build_few(key, n):
    place = jax.random.randint(key, (), 0, 3)
    return jnp.linspace(-1.0, 1.0, n) * (1 + place)


def observe(x):
    one = jnp.full(1, 1e8)
    rounded = jnp.round(x * 50) / 50
    return dict(
        relu=jnp.maximum(x, 0),
        clipped=jnp.clip(x, 0, 2.5),
        gradient=jnp.concatenate([one, x]),
        kept=jnp.concatenate([one, jnp.maximum(x, 0)]),
        order=jnp.sum(x[:, None] > x, axis=1) * 1.0,
        stable=jnp.sum(rounded[:, None] > rounded, axis=1) * 1.0,
    )


def equal(one, other, on):
    return Identity(one, other, under=(), margin=MARGIN, on=on)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        three=equal(seen.relu, seen.clipped, "few"),
        hidden=equal(seen.gradient, seen.kept, "many"),
        ranked=equal(seen.order, seen.stable, "many"),
    ),
    experiments=dict(
        few=Experiment(observe, (seen,), {n: 4}, draws=4, subjects={"three networks": Subject(build_few)}),
        many=Experiment(observe, (seen,), {n: 4}, draws=4, subjects={"normal": Subject(build)}),
    ),
)
