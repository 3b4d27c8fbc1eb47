"""Identities of programs that fail beyond a comparison which few points reach: each side of it gets a point."""

import jax.numpy as jnp
import numpy as np

from theorax import exact

AT = (np.linspace(0.3, 1.1, 3),)


def softplus(x):
    return jnp.logaddexp(x, 0.0)


def linear_too_early(seed):
    return exact.identity(lambda x: jnp.where(x > 5, x, softplus(x)), softplus, AT)


def narrow_band(seed):
    return exact.identity(lambda x: jnp.where(jnp.abs(x - 3) < 1e-3, 3.0, x), lambda x: 1 * x, AT)


def series_too_far(seed):
    return exact.identity(lambda x: jnp.where(jnp.abs(x) < 1e-3, x - x**3 / 6, jnp.sin(x)), jnp.sin, AT)


def clipped_far_out(seed):
    return exact.identity(lambda x: jnp.clip(x, -12345, 12345), lambda x: 1 * x, AT)


def table_end(seed):
    return exact.identity(lambda x: jnp.where((x > 100) & (x < 101), 100.0, x), lambda x: 1 * x, AT)


def saturated(seed):
    return exact.identity(lambda x: jnp.where(jnp.abs(x) > 19, jnp.sign(x), jnp.tanh(x)), jnp.tanh, AT)


def sum_in_a_band(seed):
    return exact.identity(lambda x: jnp.where(jnp.abs(jnp.sum(x) - 7) < 1e-2, 7.0, jnp.sum(x)), jnp.sum, AT)


def root_beside_zero(seed):
    return exact.identity(lambda x: jnp.where(x * x < 1e-5, 0 * x, jnp.sqrt(x * x)), jnp.abs, AT)
