"""Attention by kernels is the layer it should be, and features multiply to their kernel."""

# ruff: noqa: E402  (the precision is set before anything is traced)
import jax

jax.config.update("jax_enable_x64", True)

import math

import jax.numpy as jnp
import numpy as np
import pytest

from theorax.numerics.kernel_attention import (
    Elu,
    KernelAttention,
    Plain,
    Regression,
    Softmax,
    Taylor,
    exponents,
    polynomial,
)


def points(rng, n, D=3):
    return jnp.asarray(rng.normal(size=(n, D)))


def test_softmax_attention_is_that_of_jax(rng):
    Q, K, V = points(rng, 4), points(rng, 6), points(rng, 6)
    ours = KernelAttention(Softmax(), K, V, jnp.zeros(3))(Q)
    theirs = jax.nn.softmax(Q @ K.T / math.sqrt(3)) @ V
    # A dozen roundings of numbers of order one.
    assert np.allclose(ours, theirs, rtol=0, atol=1e-14)


@pytest.mark.parametrize("order", [1, 4, 5])
def test_taylor_features_multiply_to_the_polynomial(rng, order):
    X, Y = points(rng, 5), points(rng, 4)
    s = X @ Y.T / math.sqrt(3)
    literal = sum(s**t / math.factorial(t) for t in range(order + 1))
    terms = sum(jnp.abs(s) ** t / math.factorial(t) for t in range(order + 1))
    phi = Taylor(order)
    assert phi(X).shape == (5, math.comb(3 + order, order)) == (5, len(exponents(3, order)))
    # Each of the features and their products errs by some dozen roundings of the sum of the sizes of the terms.
    assert np.all(np.abs(phi.kernel(X, Y) - literal) <= 60 * len(exponents(3, order)) * 2**-53 * terms.max())
    assert np.all(np.abs(polynomial(s, order) - literal) <= 2 * order * 2**-53 * terms)


def test_a_traced_degree_cuts_features_and_series(rng):
    X, Y = points(rng, 5), points(rng, 4)
    s = X @ Y.T / math.sqrt(3)
    for degree in (0, 2, 3):
        shorter, cut = Taylor(degree).kernel(X, Y), jax.jit(lambda d: Taylor(5, d).kernel(X, Y))(degree)
        series = jax.jit(lambda d: polynomial(s, 5, d))(degree)
        # Sums of up to 20 terms of the same sizes.
        assert np.allclose(cut, shorter, rtol=0, atol=1e-12)
        assert np.allclose(series, polynomial(s, degree), rtol=0, atol=1e-12)


def test_linear_attention_is_positive(rng):
    X = points(rng, 9)
    assert np.all(Elu()(X) > 0)
    assert np.array_equal(Plain()(X), X)


def test_a_regression_in_the_span_is_attention(rng):
    K, Q, beta = points(rng, 5), points(rng, 3), points(rng, 5, 2)
    for phi in (Elu(), Taylor(4)):
        plain = Regression(phi, K, jnp.zeros((2, phi(K).shape[1])), jnp.ones(2))
        fitted = Regression(phi, K, beta.T @ plain.rows(K), jnp.ones(2))
        h = phi.kernel(K, K).sum(1)
        layer = KernelAttention(phi, K, beta / h[:, None], jnp.ones(2))
        assert np.allclose(layer.weights(Q).sum(1), 1, atol=1e-15)
        # Sums of 35 terms of order one.
        assert np.allclose(fitted(Q), layer(Q), rtol=0, atol=1e-13)
