"""A quantity that is one up to some size and two beyond: with a hypothesis in words, with one that is tested, with none."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "size")
first, second, third = numbers(
    first="a number of mean one up to n = 20", second="the same", third="the same", positive=True
)
H = hypotheses(
    narrow=Hypothesis("the layer is narrow", unbroken="every subject here is"),
    small=Hypothesis("the number is below three", third < 3, unbroken="every number here is"),
)
near = dict(margin=Relative(1, 10, "two is far away"), spread=Rational(1, 5))
in_words = Expectation(first, 1, under=H.narrow, **near)
for_all = Expectation(second, 1, under=(), **near)
tested = Expectation(third, 1, under=H.small, on="large", **near)


def build(key, n):
    return jnp.where(n > 20, 2.0, 1.0) * jax.random.uniform(key, minval=0.8, maxval=1.2)


theorem = Theorem(
    hypotheses=H,
    claims=dict(in_words=in_words, for_all=for_all, tested=tested),
    experiments=dict(
        large=Experiment(
            lambda x: dict(first=x, second=x, third=x), (first, second, third), {n: 16}, draws=200,
            subjects={"drawn": Subject(build)},
        ),
    ),
)  # fmt: skip
