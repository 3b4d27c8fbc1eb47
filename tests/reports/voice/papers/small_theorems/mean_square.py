"""The mean square of a Gaussian vector tends to one, and the halves differ by less and less."""

import jax
import jax.numpy as jnp
from sympy import Integer, sqrt

from theorax.language import *

n = Size("n", "length of the vector")
gamma = Parameter("gamma", "variance of an entry", positive=True)
square = Measured("square", "mean square of the entries", positive=True)
spread = Measured("spread", "squared difference of the mean squares of both halves", positive=True)

H = hypotheses(centred="the entries have mean zero", alike="the entries have one variance")
small = Corrections(0.1, 1, 2, reason="both means are exact at every size")
tends = Limit(
    square, gamma, as_=n, approach=small, margin=Relative(1, 8, "a mean of one half adds a quarter"), spread=sqrt(2 / n)
)
fades = Rate(
    spread, like=1 / n, as_=n, approach=small, average="log of mean", margin=Absolute(1, 2, "a constant is one away"),
    spread=Integer(3),
)  # fmt: skip


def build(key, n, gamma, mean, second):
    scale = jnp.where(jnp.arange(n) < n // 2, 1.0, second)
    return mean + jnp.sqrt(gamma) * scale * jax.random.normal(key, (n,))


def observe(vector, n):
    first, second = jnp.mean(vector[: n // 2] ** 2), jnp.mean(vector[n // 2 :] ** 2)
    return dict(square=(first + second) / 2, spread=(first - second) ** 2)


gaussian = Subject(build, mean=0.0, second=1.0)
theorem = Theorem(
    place="law of large numbers",
    label="derived",
    hypotheses=H,
    claims=dict(tends=tends, fades=fades),
    experiments=dict(
        vectors=Experiment(
            observe,
            (square, spread),
            {n: Efforts((32, 64, 128), (32, 64, 128, 256), (32, 64, 128, 256, 512))},
            at=({gamma: Integer(1)}, {gamma: Integer(2)}),
            draws=2000,
            subjects={
                "Gaussian": gaussian,
                "shifted": gaussian(mean=1.0).breaking(H.centred, fails=tends),
                "uneven": gaussian(second=2.0).breaking(H.alike, fails=(tends, fades)),
            },
        )
    ),
)
