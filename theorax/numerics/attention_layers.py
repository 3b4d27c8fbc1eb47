r"""Layers made of attention by kernels: standardised tokens, several heads, keys that a query may read.

Each is what support vector regressions become: with features taken at $(x - \mu)/s$, one for each head, one for each set
of keys.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.annotations import Entries
from theorax.numerics.kernel_attention import Attention, Kernel

__all__ = ["AttentionBN", "AttentionSH", "MultiHead", "SparseAttention"]

BATCH, SAMPLE, OWN, PLAIN = range(4)


class AttentionBN(eqx.Module):
    r"""Attention between $(q - \mu)/s$ and $(k_j - \mu)/s$: means of the keys, $s^2$ their variance plus ``floor``.

    ``kind`` makes rivals: the sample variance, queries centred by their own mean, or nothing standardised.

    **Source:** the paper's Attention-BN (reconstructed).
    """

    attention: Attention
    floor: Any
    kind: Any = BATCH

    @property
    def statistics(self) -> tuple[Float[Array, " D"], Float[Array, " D"]]:
        r"""$\mu$ and s."""
        keys, kind = self.attention.keys, jnp.asarray(self.kind)
        mean = keys.sum(0) / len(keys)
        variance = ((keys - mean) ** 2).sum(0) / jnp.where(kind == SAMPLE, len(keys) - 1, len(keys))
        return jnp.where(kind == PLAIN, 0, mean), jnp.where(kind == PLAIN, 1, jnp.sqrt(variance + self.floor))

    def standardised(
        self, queries: Float[Array, "n D"], centred: tuple[int, int] = (1, 1)
    ) -> tuple[Float[Array, "n D"], Attention]:
        """Queries as the features see them, and the layer between such tokens; zeros in ``centred`` centre nothing."""
        mean, scale = self.statistics
        centre = jnp.where(jnp.asarray(self.kind) == OWN, queries.sum(0) / len(queries), mean)
        keys = (self.attention.keys - mean * centred[1]) / scale
        return (queries - centre * centred[0]) / scale, replace(self.attention, keys=keys)

    def weights(self, queries: Float[Array, "n D"], centred: tuple[int, int] = (1, 1)) -> Float[Array, "n N"]:
        """The share of each key."""
        x, layer = self.standardised(queries, centred)
        return layer.weights(x)

    def __call__(self, queries: Float[Array, "n D"]) -> Float[Array, "n V"]:
        """The output at every query."""
        x, layer = self.standardised(queries)
        return layer(x)

    def moved(self, a: Float[Array, " D"], c: Float[Array, " D"]) -> AttentionBN:
        """The layer at keys a k + c."""
        return replace(self, attention=replace(self.attention, keys=a * self.attention.keys + c))


class MultiHead(eqx.Module):
    r"""$\sum_s H^s f^s(A^s x)$: each head reads its own projection of the queries; the keys of a head are projected ones.

    ``heads`` are layers, or the regressions that they expand.
    """

    projections: tuple[Entries[Any, "k D"], ...]
    heads: tuple[Callable[[Array], Array], ...]
    outputs: tuple[Entries[Any, "O V"], ...]

    def __call__(self, queries: Float[Array, "n D"]) -> Float[Array, "n O"]:
        """The sum over the heads at every query."""
        total = jnp.zeros((), queries.dtype)
        for A, head, H in zip(self.projections, self.heads, self.outputs, strict=True):
            total = total + head(queries @ A.T) @ H.T
        return total


class AttentionSH(eqx.Module):
    r"""Heads that read fewer keys: head s has the keys $R^s X$, projected, for a matrix $R^s$ with few rows.

    Every second token, means of neighbours and convolutions with a stride are such matrices.

    **Source:** the paper's Attention-SH (reconstructed).
    """

    kernel: Kernel
    tokens: Entries[Any, "N D"]
    projections: tuple[Entries[Any, "k D"], ...]
    reductions: tuple[Entries[Any, "_ N"], ...]
    values: tuple[Entries[Any, "_ V"], ...]
    biases: tuple[Entries[Any, " V"], ...]
    outputs: tuple[Entries[Any, "O V"], ...]

    @property
    def keys(self) -> tuple[Float[Array, "_ k"], ...]:
        """The keys of each head."""
        return tuple(R @ self.tokens @ A.T for R, A in zip(self.reductions, self.projections, strict=True))

    @property
    def heads(self) -> MultiHead:
        """The heads, each an attention layer with its own keys."""
        parts = zip(self.keys, self.values, self.biases, strict=True)
        return MultiHead(self.projections, tuple(Attention(self.kernel, k, v, b) for k, v, b in parts), self.outputs)

    def __call__(self, queries: Float[Array, "n D"]) -> Float[Array, "n O"]:
        """The output at every query."""
        return self.heads(queries)


class SparseAttention(eqx.Module):
    """Attention in which a query reads the keys where its row of ``mask`` is one.

    ``values``: one for each key, or one for each query and key; ``bias``: one, or one for each query.
    """

    kernel: Kernel
    keys: Entries[Any, "N D"]
    values: Entries[Any, "N V"] | Entries[Any, "n N V"]
    bias: Entries[Any, " V"] | Entries[Any, "n V"]
    mask: Entries[Any, "n N"]

    def __call__(self, queries: Float[Array, "n D"]) -> Float[Array, "n V"]:
        """The output at every query."""
        K = self.kernel.kernel(queries, self.keys) * self.mask
        weights = K / K.sum(1, keepdims=True)
        return jnp.sum(weights[:, :, None] * self.values, axis=1) + self.bias
