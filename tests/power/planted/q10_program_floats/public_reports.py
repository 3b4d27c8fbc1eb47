"""Identities that hold in exact arithmetic and fail in the floats of a program, each after a public report.

jax#40386, jax#40384, jax#39794, jax#4177, pytorch#1835, ggml#1515, solvcon#1522, scipy#2282.
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


softmax, log_softmax, expm1, norm, log_sigmoid, minus_one, variance, tail = map(
    pair, ("softmax", "log_softmax", "expm1", "norm", "log_sigmoid", "minus_one", "variance", "tail")
)


def logits(x):
    return jnp.stack([37.5 + x[0] / 10, jnp.zeros(())])


def two_classes(x):
    p = 1 / (1 + jnp.exp(37.5 + x[0] / 10))
    return jnp.stack([p * (1 - p), -p * (1 - p)])


def first_of(function):
    return lambda x: jax.grad(lambda z: function(z)[0])(logits(x))


def log_two_classes(x):
    p = 1 / (1 + jnp.exp(37.5 + x[0] / 10))
    return jnp.stack([p, -p])


def moments(x):
    return jnp.mean(x * x)[None] - jnp.mean(x)[None] ** 2


def deviations(x):
    return jnp.mean((x - jnp.mean(x)) ** 2)[None]


def stable_log_sigmoid(x):
    return jnp.minimum(x, 0) - jnp.log1p(jnp.exp(-jnp.abs(x)))


CASES = {
    "softmax": (softmax, first_of(jax.nn.softmax), two_classes, normal(0.0)),
    "log_softmax": (log_softmax, first_of(jax.nn.log_softmax), log_two_classes, normal(0.0)),
    "expm1": (expm1, jax.vmap(jax.grad(jnp.expm1)), jnp.exp, normal(-45.0)),
    "norm": (norm, jax.grad(lambda x: jnp.linalg.norm(x) ** 2), lambda x: 2 * x, normal(0.0, 0.0)),
    "log_sigmoid": (log_sigmoid, lambda x: jnp.log(1 / (1 + jnp.exp(-x))), stable_log_sigmoid, normal(-800.0)),
    "minus_one": (minus_one, lambda x: jnp.exp(x) - 1, jnp.expm1, normal(1e-12, 1e-13)),
    "variance": (variance, moments, deviations, normal(1e9)),
    "tail": (tail, lambda x: 1 - jax.scipy.special.erf(x), jax.scipy.special.erfc, normal(7.0, 0.1)),
}
claims = {name: Identity(*letters, margin=MARGIN) for name, (letters, *_) in CASES.items()}
theorem = Theorem(
    label="own", claims=claims,
    experiments={
        name: Experiment(on_both(letters, program, formula), letters, {n: 4}, draws=200, subjects={"model": subject})
        for name, (letters, program, formula, subject) in CASES.items()
    },
)  # fmt: skip
