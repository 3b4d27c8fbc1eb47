"""An event that holds in three quarters of the draws: a bound that is NaN in the others makes it hold there too."""

import jax
import jax.numpy as jnp
from sympy import Ne, Rational

from theorax.language import *

n = Size("n", "not used")
x = Measured("x", "a uniform number, one half where it is above three quarters")


def build(key, n):
    return jax.random.uniform(key)


def observe(u):
    x = jnp.where(u < 3 / 4, u, 0.5)
    return dict(x=x, x_error=0.0 * u + jnp.where(u < 3 / 4, 0.0, jnp.nan))


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(apart=Probability(Ne(x, Rational(1, 2)), at_least=Rational(9, 10), margin=Absolute(1, 20, "round"))),
    experiments=dict(quarters=Experiment(observe, x, {n: 4}, draws=400, subjects={"uniform": Subject(build)})),
)
