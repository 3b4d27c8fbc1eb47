"""The logarithm of a sum of exponentials is convex, with equality for two equal points."""

import jax

from theorax.language import *

n = Size("n", "dimension")
left = Measured("left", "value in the middle")
right = Measured("right", "mean of the values")
bound = Inequality(left, at_most=right)


def build(key, n):
    return jax.random.normal(key, (2, n))


def observe(model):
    x, y = model
    mean = (jax.nn.logsumexp(x) + jax.nn.logsumexp(y)) / 2
    return dict(left=jax.nn.logsumexp((x + y) / 2), right=mean)


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(
        observe, (left, right), {n: (8,)}, draws=300, platform="cpu", subjects={"drawn": Subject(build)},
    )),
)  # fmt: skip
