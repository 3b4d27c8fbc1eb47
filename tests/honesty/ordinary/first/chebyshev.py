"""A mean of n numbers of variance 1 is within 1 of its expectation with probability 1 - 1/n."""

import jax

from theorax.language import *

n = Size("n", "size")
mean = Measured("mean", "mean of n numbers")
likely = Probability(mean**2 <= 1, at_least=1 - 1 / n, margin=Absolute(1, 20, "a twentieth would matter"))


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(model, n):
    return dict(mean=model.mean())


theorem = Theorem(
    label="own",
    claims=dict(likely=likely),
    experiments=dict(e=Experiment(observe, mean, {n: 16}, subjects={"model": Subject(build)})),
)
