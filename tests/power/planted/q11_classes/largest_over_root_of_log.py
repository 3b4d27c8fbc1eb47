"""The largest of n Gaussian scores grows like 1.3 times the root of log n."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "tokens")
top = Measured("top", "largest score over the root of log n", positive=True)
H = hypotheses(independent="the scores are independent")
tends = Limit(
    top,
    Rational(13, 10),
    as_=n,
    approach=Corrections(),
    margin=Relative(1, 20, "sqrt(2) is 9 % away"),
    spread=Rational(1, 4),
)


def build(key, n, shared):
    z = jax.random.normal(key, (n,))
    return jnp.where(shared == 1, z[0], z)


def observe(z, n):
    return dict(top=jnp.max(z) / jnp.sqrt(jnp.log(n)))


s = Subject(build, shared=0)
theorem = Theorem(
    label="own",
    hypotheses=H,
    claims=dict(tends=tends),
    experiments=dict(
        e=Experiment(
            observe,
            top,
            {n: (64, 256, 1024, 4096)},
            draws=4000,
            subjects={"independent": s, "shared": s(shared=1).breaking(H.independent, fails=tends)},
        )
    ),
)
