"""True identities at points far from the data, with cancellations, and with inputs that are held fixed."""

import jax
import jax.numpy as jnp
import numpy as np

from theorax import exact

W = np.random.default_rng(5).normal(size=4)
SHAPE = jax.ShapeDtypeStruct((4,), jnp.float64)


def softmax_forgets_a_shift(seed):
    return exact.identity(jax.nn.softmax, lambda w: jax.nn.softmax(w + 3), at=W)


def softmax_at_a_shape(seed):
    return exact.identity(jax.nn.softmax, lambda w: jax.nn.softmax(w + 3), at=SHAPE)


def addition_theorem(seed):
    def of_both(x, y):
        return (jnp.tanh(x) + jnp.tanh(y)) / (1 + jnp.tanh(x) * jnp.tanh(y))

    return exact.identity(lambda x, y: jnp.tanh(x + y), of_both, at=(W, W[::-1].copy()))


def larger_of_two(seed):
    return exact.identity(jnp.maximum, lambda a, b: (a + b + jnp.abs(a - b)) / 2, at=(W, W[::-1].copy()))


def hyperbolic_squares(seed):
    """At 2^20 the two squares have a million digits and differ by one."""
    return exact.identity(lambda x: jnp.cosh(x) ** 2 - jnp.sinh(x) ** 2, 1.0, at=W)


def positive_by_a_parameter(seed):
    return exact.identity(lambda v: jnp.log(jnp.exp(v) ** 2), lambda v: 2 * v, at=W)


def two_logarithms(seed):
    """Neither side has a value left of zero."""
    return exact.identity(lambda w: jnp.log(w**3), lambda w: 3 * jnp.log(w), at=np.abs(W))


def mixed_precision(seed):
    return exact.identity(
        lambda A, x: (A.astype(jnp.float32) @ x).astype(jnp.float64),
        lambda A, x: jnp.sum(A * x, axis=1),
        at=(np.outer(W, W), W),
    )


def zero_by_cancellation(seed):
    return exact.identity(lambda x: jnp.sin(x) ** 2 + jnp.cos(x) ** 2 - 1, 0.0, at=W)


def a_fixed_gain(seed):
    """True for the gain given, which the scope names."""
    return exact.identity(lambda w, gain: gain * w, lambda w, gain: w, at=(W, 1.0))


def a_fixed_order(seed):
    return exact.identity(lambda w, order: w[order], lambda w, order: w, at=(W, np.arange(4)))


def removable(seed):
    """Defined on both sides almost everywhere, and certified there."""
    return exact.identity(lambda w: w * w / w, lambda w: w, at=W)
