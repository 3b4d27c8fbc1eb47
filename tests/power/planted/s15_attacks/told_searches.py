"""Three is in every class here. Searches are told the answer, move a hair, or look at something else."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "restarts at once")
NAMES = ("told", "hair", "constant", "longer", "elsewhere", "copied")
reached = {name: Measured(name, "distance from the target where the search ends") for name in NAMES}
planted = {name: Measured(f"{name}_planted", "the same for planted members") for name in NAMES}
started = {name: Measured(f"{name}_started", "the same where their search starts") for name in NAMES}


def build(key, n):
    return jax.random.uniform(key, (2,))


def descended(x, target, rate, steps):
    for _ in range(steps):
        x = x - rate * (x - target)
    return x


def observe(drawn):
    start, member = drawn
    away = jnp.abs(start - member)
    return {
        # The planted search is handed its target in the place of a start; the letter names another start.
        "told": jnp.abs(descended(start, 3.0, 0.01, 2) - 3),
        "told_planted": jnp.abs(descended(member, member, 0.01, 2) - member),
        "told_started": away + 0.05,
        # One step of a hundredth crosses the tolerance from just outside of it.
        "hair": jnp.abs(descended(start, 3.0, 0.01, 1) - 3),
        "hair_planted": jnp.abs(descended(member + 0.0201, member, 0.01, 1) - member),
        "hair_started": jnp.abs(member + 0.0201 - member) + 0 * start,
        # The distance is a number that no search has found.
        "constant": jnp.asarray(2.5),
        "constant_planted": jnp.abs(descended(start, member, 0.5, 40) - member),
        "constant_started": away,
        # An honest error: the budget of the planted searches is another one.
        "longer": jnp.abs(descended(start, 3.0, 0.01, 5) - 3),
        "longer_planted": jnp.abs(descended(start, member, 0.5, 40) - member),
        "longer_started": away,
        # An honest error: the distance is taken from the start.
        "elsewhere": jnp.abs(start - 3.0),
        "elsewhere_planted": jnp.abs(descended(start, member, 0.5, 40) - member),
        "elsewhere_started": away,
        # The planted search returns the member as it was given, and its distance is zero by form.
        "copied": jnp.abs(start - 3.0),
        "copied_planted": 0.0 * start,
        "copied_started": away,
    }


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims={
        name: Impossibility(
            reached[name], at_least=Rational(3, 2), planted=planted[name], started=started[name], tol=Rational(1, 50)
        )
        for name in NAMES
    },
    experiments=dict(
        searches=Experiment(
            observe, (*reached.values(), *planted.values(), *started.values()), {n: (1,)},
            subjects={"uniform": Subject(build)}, draws=60,
        )
    ),
)  # fmt: skip
