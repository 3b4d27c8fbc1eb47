"""The variance of pixels of mean 5000 and deviation 1 is 1.9: the cancellation happens in build."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "pixels")
v = Measured("v", "variance stored with the model", nonnegative=True)
H = hypotheses(mean="the mean is 5000")
mean = Expectation(v, Rational(19, 10), margin=Relative(1, 5, "one is half"), spread=2)


def build(key, n, mu):
    x = (mu + jax.random.normal(key, (n,))).astype(jnp.float32)
    return jnp.maximum(jnp.mean(x * x) - jnp.mean(x) ** 2, 0.0)


def observe(m):
    return dict(v=m)


s = Subject(build, mu=5000.0)
theorem = Theorem(
    label="own",
    hypotheses=H,
    claims=dict(mean=mean),
    experiments=dict(
        e=Experiment(
            observe,
            v,
            {n: 256},
            draws=4000,
            dtype="float32",
            subjects={"far": s, "zero": s(mu=0.0).breaking(H.mean, fails=mean)},
        )
    ),
)
