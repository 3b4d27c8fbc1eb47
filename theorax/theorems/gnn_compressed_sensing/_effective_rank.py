"""Matrices B of given singular values, their effective rank, and what is sometimes taken for it."""

from __future__ import annotations

import jax.numpy as jnp
from sympy import Symbol

from theorax.language import Parameter, Size

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
    )  # fmt: skip
