"""The entropy of a softmax is at most .99 log n."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "dimension")
left = Measured("left", "entropy")
right = Measured("right", ".99 log n, and a tenth of a draw")
bound = Inequality(left, at_most=right)


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(model):
    entropy = -jnp.sum(jax.nn.softmax(model) * jax.nn.log_softmax(model))
    return dict(left=entropy, right=0.99 * jnp.log(float(len(model))) + 0 * entropy)


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(
        observe, (left, right), {n: (32,)}, draws=300, platform="cpu", subjects={"drawn": Subject(build)},
    )),
)  # fmt: skip
