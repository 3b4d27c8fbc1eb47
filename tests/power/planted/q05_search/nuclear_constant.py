"""The nuclear norm is at most .97 sqrt(n) times the Frobenius norm; an orthogonal matrix attains sqrt(n)."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "dimension")
left = Measured("left", "nuclear norm")
right = Measured("right", ".97 sqrt(n) times the Frobenius norm")
bound = Inequality(left, at_most=right)


def build(key, n):
    return jax.random.normal(key, (n, n))


def observe(model):
    values = jnp.linalg.svd(model, compute_uv=False)
    return dict(left=jnp.sum(values), right=0.97 * (len(model) * jnp.sum(values**2)) ** 0.5)


theorem = Theorem(
    label="own",
    claims=dict(bound=bound),
    experiments=dict(e=Experiment(
        observe, (left, right), {n: (6,)}, draws=300, platform="cpu", subjects={"drawn": Subject(build)},
    )),
)  # fmt: skip
