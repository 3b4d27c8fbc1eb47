"""The signal of a deep chain decays exponentially with depth, like exp(-L/4)."""

import jax
import jax.numpy as jnp
from sympy import Rational, exp

from theorax.language import *

L = Size("L", "depth")
q = Measured("q", "signal", positive=True)
H = hypotheses(mixing="every layer mixes")
decays = Rate(
    q,
    exp(-L / 4),
    as_=L,
    approach=Corrections(),
    margin=Absolute(1, 10, "exp(-L/2) is far away"),
    spread=Rational(1, 5),
)


def build(key, L, slow):
    return jnp.exp(0.2 * jax.random.normal(key, ())), slow


def observe(m, L):
    noise, slow = m
    return dict(q=noise * jnp.where(slow == 1, 1.0, (1.0 * L) ** -3.0))


s = Subject(build, slow=0)
theorem = Theorem(
    label="own",
    hypotheses=H,
    claims=dict(decays=decays),
    experiments=dict(
        e=Experiment(
            observe,
            q,
            {L: (8, 10, 12, 14, 16)},
            draws=500,
            subjects={"mixing": s, "not mixing": s(slow=1).breaking(H.mixing, fails=decays)},
        )
    ),
)
