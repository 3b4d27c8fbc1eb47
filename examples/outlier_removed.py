"""Equinox's multi-head attention with its outlier removed: the mean token is subtracted before tokens are mixed.

    verify theorem rank_collapse_width --model examples/outlier_removed.py:factory

The rank no longer collapses, so the theorem, which speaks of attention as it is, is refuted of this layer.
"""

import equinox as eqx
import jax
import jax.numpy as jnp


class OutlierRemoved(eqx.Module):
    """Single-head self-attention with A - J in the place of A."""

    inner: eqx.nn.MultiheadAttention

    def attention(self, X):
        """softmax(Q K^T / sqrt(d)) minus the uniform matrix."""
        queries, keys = jax.vmap(self.inner.query_proj)(X), jax.vmap(self.inner.key_proj)(X)
        weights = jax.nn.softmax(queries @ keys.T / jnp.sqrt(keys.shape[1]), axis=-1)
        return weights - 1 / len(X)

    def __call__(self, X):
        """The mixed values, projected out."""
        values = jax.vmap(self.inner.value_proj)(X)
        return jax.vmap(self.inner.output_proj)(self.attention(X) @ values)


def factory(key, T, d):
    """One head on tokens of width d."""
    return OutlierRemoved(eqx.nn.MultiheadAttention(num_heads=1, query_size=d, key=key))
