"""The matrix M of the loss of positional weights, its entries sin(x)/x: a discrete prolate matrix, and its spectrum."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from theorax.numerics.annotations import Scalar
from theorax.numerics.keys import named


def prolate(length: int, mu: Scalar) -> Array:
    """M, for angles uniform on [0, 2 pi/mu]."""
    x = 4 * jnp.pi * (jnp.arange(length)[:, None] - jnp.arange(length)) / mu
    return jnp.where(x == 0, 1.0, jnp.sin(x) / jnp.where(x == 0, 1.0, x))


def matrix(T: int, mu: Scalar, resting: Scalar) -> Array:
    """M; ``resting`` is the share of contexts whose angle is zero, a control."""
    return (1 - resting) * prolate(T, mu) + resting


def spectral_edge(key: Array, T: int, mu: Scalar, resting: Scalar) -> Array:
    """The same, built for a key that nothing is drawn from."""
    return matrix(T, mu, resting)


def any_arc(key: Array, T: int, low: Scalar, wide: Scalar, resting: Scalar) -> tuple[Array, Array]:
    """The matrix of a mu drawn from ``low`` on, and this mu."""
    mu = low * (1 + wide * jax.random.uniform(named(key, "mu")) ** 2)
    return matrix(T, mu, resting), mu


def largest_eigenvalue(M: Array) -> dict[str, Array]:
    """The largest eigenvalue."""
    return dict(lambda_1=jnp.linalg.eigvalsh(M)[-1])


def eigenvalues(model: tuple[Array, Array], T: int) -> dict[str, Any]:
    """Count those above mu/8."""
    M, mu = model
    return dict(above=(jnp.linalg.eigvalsh(M) > mu / 8).sum(), claimed=4 * T / mu)
