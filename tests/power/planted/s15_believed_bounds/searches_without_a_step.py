"""The target is in the class (x = 3); searches that take no step, too few or none from elsewhere do not find it.

``still``: the search hands back its start, and the planted members start at what they look for. ``lucky``: all but a few
start so. ``short``: one step of a hundred, which planted members within a hundredth survive. ``frozen``: a rate of zero
by an honest slip of the schedule, planted members a rounding away from their start.
"""

import jax
import jax.numpy as jnp
from sympy import Integer, Rational

from theorax.language import Experiment, Impossibility, Measured, Size, Subject, Theorem

n = Size("n", "restarts at once")
names = ("still", "lucky", "short", "frozen")
reached = {name: Measured(f"{name}", "distance from the target where the search ends") for name in names}
planted = {name: Measured(f"{name}_planted", "the same for planted members") for name in names}
started = {name: Measured(f"{name}_started", "the same where their search starts") for name in names}


def build(key, n):
    first, second, third = jax.random.split(key, 3)
    return jax.random.uniform(first), jax.random.uniform(second), jax.random.uniform(third)


def descended(x, target, rate, steps):
    for _ in range(steps):
        x = x - rate * (x - target)
    return x


def observe(drawn):
    start, member, luck = drawn
    away = jnp.abs(start - member)
    return {
        "still": jnp.abs(start - 3.0),
        "still_planted": jnp.abs(member - member),
        "still_started": jnp.abs(member - member),
        "lucky": jnp.abs(start - 3.0),
        "lucky_planted": jnp.where(luck < 0.9, 0.0, 1e-9),
        "lucky_started": jnp.where(luck < 0.9, 0.0, away),
        "short": jnp.abs(descended(start, 3.0, 0.01, 1) - 3.0),
        "short_planted": jnp.abs(descended(member + 0.01, member, 0.01, 1) - member),
        "short_started": jnp.abs(member + 0.01 - member),
        "frozen": jnp.abs(descended(start, 3.0, 0.0, 5) - 3.0),
        "frozen_planted": jnp.abs(descended(member * (1 + 1e-12), member, 0.0, 5) - member),
        "frozen_started": jnp.abs(member * (1 + 1e-12) - member),
    }


def impossible(name, **parts):
    fields = dict(at_least=Rational(3, 2), planted=planted[name], started=started[name], tol=Rational(1, 50))
    return Impossibility(reached[name], **{**fields, **parts})


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims={
        **{name: impossible(name) for name in names},
        "blind": impossible("lucky", tol=Rational(1, 10**12)),
        "nearer": impossible("short", at_least=Integer(4)),
    },
    experiments=dict(
        searches=Experiment(
            observe,
            (*reached.values(), *planted.values(), *started.values()),
            {n: (1,)},
            subjects={"uniform": Subject(build)},
            draws=40,
        )
    ),
)
