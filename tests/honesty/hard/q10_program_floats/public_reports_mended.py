"""The identities of the public reports with programs that compute them stably, and conventions at a kink.

jax#40386, jax#39794, jax#4177, jax#37821, pytorch#1835, ggml#1515, solvcon#1522.
"""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "numbers")
MARGIN = Relative(1, 10**6, "rounding stays below it")


def pair(name):
    return arrays(**{f"{name}_program": "as the program has it", f"{name}_formula": "by the formula"})


def on_both(letters, program, formula):
    one, other = letters
    return lambda x: {one.name: program(x), other.name: formula(x)}


def normal(shift, scale=1.0):
    return Subject(lambda key, n: shift + scale * jax.random.normal(key, (n,)))


names = ("softmax", "expm1", "norm", "log_sigmoid", "minus_one", "variance", "half", "masked")
softmax, expm1, norm, log_sigmoid, minus_one, variance, half, masked = map(pair, names)


def stable(x):
    return jax.nn.sigmoid(x) * jax.nn.sigmoid(-x)


def odds(x):
    return jnp.exp(-x) / (1 + jnp.exp(-x)) ** 2


def shifted(x):
    return jnp.mean((x - x[0]) ** 2)[None] - jnp.mean(x - x[0])[None] ** 2


def deviations(x):
    return jnp.mean((x - jnp.mean(x)) ** 2)[None]


def softplus_slope(x):
    return jax.vmap(jax.grad(lambda t: jnp.minimum(t, 0) - jnp.log1p(jnp.exp(-jnp.abs(t)))))(x)


CASES = {
    "softmax": (softmax, stable, odds, normal(37.5)),
    "expm1": (expm1, jax.vmap(jax.grad(lambda t: jnp.exp(t) - 1)), jnp.exp, normal(-45.0)),
    "norm": (norm, jax.grad(lambda x: jnp.sum(x**2)), lambda x: 2 * x, normal(0.0)),
    "log_sigmoid": (log_sigmoid, softplus_slope, lambda x: jax.nn.sigmoid(-x), normal(-2.0)),
    "minus_one": (minus_one, lambda x: 2 * jnp.exp(x / 2) * jnp.sinh(x / 2), jnp.expm1, normal(0.0)),
    "variance": (variance, shifted, deviations, normal(1e6)),
    "half": (half, jax.vmap(jax.grad(lambda t: jnp.maximum(t, 0.0))), lambda x: 0.5 + 0 * x, normal(0.0, 0.0)),
    "masked": (
        masked,
        lambda x: jnp.sum(jnp.where(x > 0, x, 0))[None],
        lambda x: jnp.sum(jax.nn.relu(x))[None],
        normal(0.0),
    ),
}
claims = {name: Identity(*letters, margin=MARGIN) for name, (letters, *_) in CASES.items()}
theorem = Theorem(
    label="own", claims=claims,
    experiments={
        name: Experiment(on_both(letters, program, formula), letters, {n: 4}, draws=200, subjects={"model": subject})
        for name, (letters, program, formula, subject) in CASES.items()
    },
)  # fmt: skip
