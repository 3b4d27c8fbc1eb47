"""Matrices B of given singular values, their effective rank, and what is sometimes taken for it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from sympy import Symbol

from theorax.language import Parameter, Size
from theorax.numerics.keys import named

m = Size("m", "rows of A, columns of B")
l = Size("l", "rows of B, the measurements")
a = Parameter("a", "exponent of the singular values of B, s_i = i^(-a)", positive=True)
i = Symbol("i", integer=True, positive=True)


def reflection(size, turn):
    """A reflection that no coordinate is spared by; the same at every call."""
    v = jnp.cos(turn * (1.0 + jnp.arange(size)))
    return jnp.eye(size) - 2 * jnp.outer(v, v) / (v @ v)


def of_spectrum(spectrum):
    """A square matrix of these singular values, turned from both sides."""
    size = spectrum.shape[0]
    return (reflection(size, 1.0) * spectrum) @ reflection(size, 2.0)


def power_law(size, exponent):
    return (1.0 + jnp.arange(size)) ** -exponent


def ranks(B):
    """Effective rank, R, F/||B||, nuclear norm over ||B||, and the exponential of the entropy of s_i/sum s."""
    s = jnp.linalg.svd(B, compute_uv=False)
    q, top = s**2, s[0]
    weights = s / s.sum()
    entropy = -jnp.where(weights > 0, weights * jnp.log(jnp.where(weights > 0, weights, 1)), 0).sum()
    squares = q.sum()
    return dict(
        er=squares / top**2, participation=squares**2 / (q**2).sum(), unsquared=jnp.sqrt(squares) / top,
        nuclear=s.sum() / top, entropic=jnp.exp(entropy),
    )


def uneven_columns(key, m):
    """2m x m, its columns of very different sizes, one of them zero."""
    size = jnp.exp(2 * jax.random.normal(named(key, "sizes"), (m,)) * jax.random.uniform(named(key, "spread")))
    return (jax.random.normal(named(key, "B"), (2 * m, m)) * size).at[:, 0].set(0)


def rotated_pair(key, m, skewed):
    """B, and c U B V; ``skewed``: Gaussian U and V."""
    B = uneven_columns(named(key, "plain"), m)
    factors = []
    for name, size in (("U", 2 * m), ("V", m)):
        normal = jax.random.normal(named(key, name), (size, size))
        factors.append(jnp.where(skewed > 0, normal, jnp.linalg.qr(normal)[0]))
    return B, jnp.exp(jax.random.normal(named(key, "c"))) * factors[0] @ B @ factors[1]


def levels(key, m, r, uneven):
    values = jnp.where(jnp.arange(m) < r, jnp.exp(uneven * jnp.cos(jnp.arange(m))), 0)
    return of_spectrum(3 * values)


def power_spectrum(key, m, a, geometric):
    """``geometric``: s_i = 2^(-a (i - 1)/8)."""
    return of_spectrum(jnp.where(geometric > 0, 2.0 ** (-a * jnp.arange(m) / 8), power_law(m, a)))


def rounded(er, B):
    """Of the effective rank: every s_i is off by a modest multiple of 2^-53 s_1, less than the number of columns."""
    return 4 * B.shape[1] * 2.0**-52 * er
