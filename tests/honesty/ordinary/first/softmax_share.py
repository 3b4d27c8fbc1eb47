"""Two of n equal scores get the share 0 in the limit: n times it tends to 2."""

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
share = Measured("share", "n times the weight of two entries")
tends = Limit(
    share,
    2,
    as_=n,
    margin=Relative(1, 10, "a tenth would matter"),
    approach=Expansion(powers=(1,), rest=Rational(1, 20), order=2, reference=16, reason="moments expand in 1/n"),
)


def build(key, n):
    return jax.random.normal(key, (n,)) / 10


def observe(model, n):
    return dict(share=n * jax.nn.softmax(model)[:2].sum())


theorem = Theorem(
    label="own",
    claims=dict(tends=tends),
    experiments=dict(
        e=Experiment(observe, share, {n: (16, 32, 64, 128)}, draws=400, subjects={"model": Subject(build)})
    ),
)
