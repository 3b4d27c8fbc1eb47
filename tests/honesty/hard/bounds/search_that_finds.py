"""A search that finds whatever lies in [0, 1] does not find three: some planted members start where they end."""

import jax
import jax.numpy as jnp
from sympy import Integer, Rational

from theorax.language import Experiment, Impossibility, Measured, Size, Subject, Theorem

n = Size("n", "restarts at once")
distance = Measured("distance", "distance from three")
planted = Measured("planted", "distance from a member of [0, 1]")
started = Measured("started", "the same before the search")


def build(key, n):
    return jax.random.uniform(key, (2,))


def observe(drawn):
    start, member = drawn[0], drawn[1]

    def searched(target):
        x = start
        for _ in range(40):
            x = jnp.clip(x - 0.5 * (x - target), 0.0, 1.0)
        return x

    return dict(
        distance=jnp.abs(searched(3.0) - 3.0),
        planted=jnp.abs(searched(member) - member),
        started=jnp.abs(start - member),
    )


apart = Impossibility(distance, at_least=Integer(2), planted=planted, started=started, tol=Rational(1, 50))
theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(apart=apart),
    experiments=dict(
        searches=Experiment(
            observe, (distance, planted, started), {n: (1,)}, subjects={"uniform": Subject(build)}, draws=60
        )
    ),
)
