"""Layers made of attention by kernels do what their literal formulas say."""

# ruff: noqa: E402  (the precision is set before anything is traced)
import jax

jax.config.update("jax_enable_x64", True)

import math

import jax.numpy as jnp
import numpy as np
import pytest

from theorax.numerics.kernel_attention import KernelAttention, Softmax
from theorax.theorems.primal_dual_attention._attention_layers import (
    BATCH,
    CONVOLUTION,
    OWN,
    PLAIN,
    POOL,
    SAMPLE,
    STRIDE,
    AttentionBN,
    AttentionSH,
    MultiHead,
    SparseAttention,
    by_sets,
    equinox_multihead,
    halves,
    reduction,
    two_sets,
)


def points(rng, n, D=3):
    return jnp.asarray(rng.normal(size=(n, D)))


def literal_weights(q, k):
    return jax.nn.softmax(q @ k.T / math.sqrt(q.shape[1]))


@pytest.mark.parametrize(("kind", "ddof"), [(BATCH, 0), (SAMPLE, 1)])
def test_attention_bn_is_softmax_between_standardised_tokens(rng, kind, ddof):
    q, k, v = points(rng, 4), points(rng, 6), points(rng, 6)
    layer = AttentionBN(KernelAttention(Softmax(), k, v, jnp.zeros(3)), 0.1, kind)
    mean, scale = np.mean(k, 0), np.sqrt(np.var(k, 0, ddof=ddof) + 0.1)
    literal = literal_weights((q - mean) / scale, (k - mean) / scale)
    # Some dozen roundings of numbers of order ten.
    assert np.allclose(layer.weights(q), literal, rtol=0, atol=1e-13)
    assert np.allclose(layer(q), literal @ v, rtol=0, atol=1e-12)


def test_its_rivals_are_others(rng):
    q, k = points(rng, 4), points(rng, 6)
    plain = KernelAttention(Softmax(), k, k, jnp.zeros(3))
    assert np.allclose(AttentionBN(plain, 0.1, PLAIN).weights(q), literal_weights(q, k), rtol=0, atol=1e-13)
    ours, own = (AttentionBN(plain, 0.1, kind).weights(q) for kind in (BATCH, OWN))
    # With the queries' own mean where the keys' is, they agree.
    assert not np.allclose(ours, own, atol=1e-3)
    q = q - q.mean(0) + k.mean(0)
    ours, own = (AttentionBN(plain, 0.1, kind).weights(q) for kind in (BATCH, OWN))
    assert np.allclose(ours, own, rtol=0, atol=1e-13)


def test_heads_add_up(rng):
    x, q = points(rng, 6), points(rng, 4)
    A, H, v = ([points(rng, rows, columns) for _ in range(2)] for rows, columns in ((4, 3), (3, 2), (6, 2)))
    heads = tuple(KernelAttention(Softmax(), x @ a.T, values, jnp.ones(2)) for a, values in zip(A, v, strict=True))
    literal = sum(
        (literal_weights(q @ a.T, x @ a.T) @ values + 1) @ out.T for a, values, out in zip(A, v, H, strict=True)
    )
    assert np.allclose(MultiHead(tuple(A), heads, tuple(H))(q), literal, rtol=0, atol=1e-12)


def test_a_mask_leaves_keys_out(rng):
    q, k, v = points(rng, 2), points(rng, 5), points(rng, 5)
    mask = jnp.asarray([[1.0, 0, 1, 0, 1], [0, 1, 1, 0, 0]])
    ours = SparseAttention(Softmax(), k, v, jnp.zeros(3), mask)(q)
    for row, allowed in enumerate(mask == 1):
        literal = literal_weights(q[row : row + 1], k[allowed]) @ v[allowed]
        assert np.allclose(ours[row], literal[0], rtol=0, atol=1e-12)
    own = SparseAttention(Softmax(), k, jnp.stack([v, 2 * v]), jnp.zeros(3), mask)(q)
    assert np.allclose(own, ours * jnp.asarray([[1.0], [2.0]]), rtol=0, atol=1e-12)


def test_attention_sh_reads_reduced_keys(rng):
    x, q, A, H = points(rng, 6), points(rng, 4), points(rng, 3), points(rng, 2)
    pooling = jnp.asarray(np.kron(np.eye(3), [[0.5, 0.5]]))
    v, b = points(rng, 3), jnp.ones(3)
    layer = AttentionSH(Softmax(), x, (A,), (pooling,), (v,), (b,), (H,))
    means = (x[::2] + x[1::2]) / 2
    literal = (literal_weights(q @ A.T, means @ A.T) @ v + b) @ H.T
    assert layer.keys[0].shape == (3, 3)
    assert np.allclose(layer(q), literal, rtol=0, atol=1e-12)


def test_the_module_of_equinox_is_given_the_heads(rng):
    x, q = points(rng, 5), points(rng, 4)
    A, B, H, v = (
        tuple(points(rng, rows, columns) for _ in range(2)) for rows, columns in ((4, 3), (4, 3), (3, 2), (5, 2))
    )
    b = tuple(points(rng, 1, 2)[0] for _ in range(2))
    heads = tuple(KernelAttention(Softmax(), x @ k.T, values, bias) for k, values, bias in zip(B, v, b, strict=True))
    literal = sum(
        (literal_weights(q @ a.T, x @ k.T) @ values + bias) @ out.T
        for a, k, values, bias, out in zip(A, B, v, b, H, strict=True)
    )
    # Some hundred roundings of numbers of order ten.
    assert np.allclose(equinox_multihead(MultiHead(A, heads, H), B, x, q), literal, rtol=0, atol=1e-12)


def test_reductions(rng):
    x, taps = np.asarray(points(rng, 6)), [0.5, 2.0, -1.0]
    assert np.array_equal(reduction(STRIDE, 6, 2) @ x, x[::2])
    assert np.allclose(reduction(POOL, 6, 2) @ x, (x[::2] + x[1::2]) / 2, rtol=0, atol=1e-15)
    beside = np.concatenate([x[2::2], x[-1:]])
    # Three products of numbers below ten.
    assert np.allclose(reduction(CONVOLUTION, 6, 2, taps) @ x, x[::2] / 2 + 2 * x[1::2] - beside, rtol=0, atol=1e-14)


def test_strides_are_sparse_attention(rng):
    x, q, A, H, v = points(rng, 6), points(rng, 4), points(rng, 3), points(rng, 2), points(rng, 3)
    stride, b = reduction(STRIDE, 6, 2), jnp.ones(3)
    layer = AttentionSH(Softmax(), x, (A,), (stride,), (v,), (b,), (H,))
    literal = (literal_weights(q @ A.T, x[::2] @ A.T) @ v + b) @ H.T
    assert np.allclose(layer.masked((2,), 4)(q), literal, rtol=0, atol=1e-12)
    pooled = AttentionSH(Softmax(), x, (A,), (reduction(POOL, 6, 2),), (v,), (b,), (H,))
    assert not np.allclose(pooled.masked((2,), 4)(q), pooled(q), atol=1e-3)  # means of keys are no keys


def test_each_half_of_the_queries_reads_its_set(rng):
    q, k = points(rng, 4), points(rng, 5)
    chosen, values, biases = two_sets(5), [points(rng, 3), points(rng, 3)], [jnp.ones(3), jnp.zeros(3)]
    assert [list(one) for one in chosen] == [[0, 2, 4], [0, 1, 2]]
    assert [list(one) for one in two_sets(5, same=True)] == [[0, 2, 4]] * 2
    found = by_sets(Softmax(), k, values, biases, q)
    parts = zip(halves(q), chosen, values, biases, strict=True)
    literal = jnp.concatenate([literal_weights(block, k[mine]) @ v + b for block, mine, v, b in parts])
    assert np.allclose(found, literal, rtol=0, atol=1e-12)
    everywhere = by_sets(Softmax(), k, values, biases, q, masks=False)
    spread = jnp.zeros((5, 3)).at[chosen[0]].set(values[0])
    assert np.allclose(everywhere[:2], literal_weights(q[:2], k) @ spread + 1, rtol=0, atol=1e-12)
