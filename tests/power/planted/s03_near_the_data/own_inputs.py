"""Rules that hold near the inputs at hand, asked of all real inputs."""

import jax
import jax.numpy as jnp
import numpy as np

from theorax import exact

W = np.random.default_rng(3).random(5) + 0.1
N = np.random.default_rng(4).normal(size=5)
SHAPE = jax.ShapeDtypeStruct((5,), jnp.float64)


def rectified(seed):
    return exact.identity(jax.nn.relu, lambda w: w, at=W)


def rectified_at_a_shape(seed):
    return exact.identity(jax.nn.relu, lambda w: w, at=SHAPE)


def root_of_a_square(seed):
    return exact.identity(lambda w: jnp.sqrt(w**2), lambda w: w, at=W, margin=1e-6)


def logarithm_of_a_square(seed):
    return exact.identity(lambda w: jnp.log(w**2), lambda w: 2 * jnp.log(w), at=W)


def clipped(seed):
    """A clip that no normal number reaches."""
    return exact.identity(lambda w: jnp.clip(w, -10, 10), lambda w: w, at=N)


def hard_sigmoid(seed):
    """Linear between -3 and 3, as the inputs are."""
    return exact.identity(lambda w: jnp.clip(w / 6 + 0.5, 0, 1), lambda w: w / 6 + 0.5, at=N / 2)


def sorted_already(seed):
    """The inputs come in increasing order."""
    return exact.identity(jnp.sort, lambda w: w, at=np.sort(N))


def exponential_of_a_logarithm(seed):
    return exact.identity(lambda w: jnp.exp(jnp.log(w)), lambda w: w, at=W)


def power_of_a_power(seed):
    """w^(3/2) as the cube of the root: a root has no value left of zero, the left side has one."""
    return exact.identity(lambda w: jnp.sqrt(jnp.abs(w)) ** 3, lambda w: jnp.sqrt(w) ** 3, at=W)


def tie(seed):
    """The gap of two entries, over itself, is one but for a tie."""
    return exact.identity(lambda w: jnp.tanh(w[0] - w[1]) / jnp.tanh(w[0] - w[1]), 1.0, at=N)


def stable_sum(seed):
    """A guard against division by zero that meets no zero in the data."""
    return exact.identity(
        lambda w: w * jnp.tanh(jnp.sum(w)),
        lambda w: jnp.where(jnp.sum(w**2) > 1e-8, w, w + 1) * jnp.tanh(jnp.sum(w)),
        at=W,
    )


def one_gain(seed):
    """A gain that happens to be one, given as an array: it is a weight."""
    return exact.identity(lambda w, gain: gain * jnp.tanh(w), lambda w, gain: jnp.tanh(w), at=(W, np.ones(())))


def only_floats(seed):
    """Singular values are followed in no arithmetic but floats, and one input is not all of them."""
    return exact.identity(
        lambda A: jnp.linalg.svd(A, compute_uv=False)[0], jnp.linalg.norm, at=np.ones((2, 2)), margin=1e-6
    )
