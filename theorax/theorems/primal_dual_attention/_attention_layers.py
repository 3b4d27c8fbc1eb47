r"""Layers made of attention by kernels: standardised tokens, several heads, keys that a query may read.

Each is what support vector regressions become: with features taken at $(x - \mu)/s$, one for each head, one for each set
of keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorax.numerics.annotations import Entries
from theorax.numerics.kernel_attention import AttentionKernel, KernelAttention

__all__ = [
    "AttentionBN", "AttentionSH", "MultiHead", "Reduction", "SparseAttention", "Standardisation", "by_sets",
    "equinox_multihead", "halves", "reduction", "two_sets",
]  # fmt: skip


class Standardisation(IntEnum):
    """Statistics of the tokens: the keys' population or sample variance, each set's own mean, or none."""

    BATCH, SAMPLE, OWN, PLAIN = range(4)


BATCH, SAMPLE, OWN, PLAIN = Standardisation


class Reduction(IntEnum):
    """Reduction of the keys of a head: leaving some out, means of neighbours, or a convolution with a stride."""

    STRIDE, POOL, CONVOLUTION = range(3)


STRIDE, POOL, CONVOLUTION = Reduction


class AttentionBN(eqx.Module):
    r"""Attention between $(q - \mu)/s$ and $(k_j - \mu)/s$: means of the keys, $s^2$ their variance plus ``floor``.

    ``kind`` makes rivals: the sample variance, queries centred by their own mean, or nothing standardised.

    **Source:** Nguyen et al. 2023, Attention-BN (reconstructed).
    """

    attention: KernelAttention
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
    ) -> tuple[Float[Array, "n D"], KernelAttention]:
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


def equinox_multihead(
    layer: MultiHead,
    projected: tuple[Float[Array, "k D"], ...],
    tokens: Float[Array, "N D"],
    queries: Float[Array, "n D"],
) -> Float[Array, "n D"]:
    """Output of ``equinox.nn.MultiheadAttention`` with the weights in ``layer``; its keys are ``projected`` tokens.

    Its weights are those of the heads; its values, which it would project from tokens, are theirs, side by side.

    **Errors:** the module rounds the root of the width of a head: that of a width of 4 or 16 is exact.
    """
    heads: Any = layer.heads
    (width, D), value, count = layer.projections[0].shape, heads[0].values.shape[1], len(heads)
    module = eqx.nn.MultiheadAttention(
        count, D, value_size=value * count, output_size=D, qk_size=width, vo_size=value, use_output_bias=True,
        key=jax.random.key(0),
    )  # fmt: skip
    weights = (
        jnp.concatenate(layer.projections), jnp.concatenate(projected), jnp.eye(value * count),
        jnp.concatenate(layer.outputs, axis=1), sum(H @ head.bias for H, head in zip(layer.outputs, heads, strict=True)),
    )  # fmt: skip
    parts = ("query_proj", "key_proj", "value_proj", "output_proj")
    places = lambda m: (*(getattr(m, part).weight for part in parts), m.output_proj.bias)
    module = eqx.tree_at(places, module, weights)
    return module(queries, tokens, jnp.concatenate([head.values for head in heads], axis=1))


class AttentionSH(eqx.Module):
    r"""Heads that read fewer keys: head s has the keys $R^s X$, projected, for a matrix $R^s$ with few rows.

    Every second token, means of neighbours and convolutions with a stride are such matrices.

    **Source:** Nguyen et al. 2023, Attention-SH (reconstructed).
    """

    kernel: AttentionKernel
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
        return MultiHead(
            self.projections, tuple(KernelAttention(self.kernel, k, v, b) for k, v, b in parts), self.outputs
        )

    def masked(self, factors: tuple[int, ...], count: int) -> MultiHead:
        """Mask of the heads as sparse attention of so many queries: head s keeps every ``factors[s]``-th token."""
        heads, N = [], len(self.tokens)
        for A, v, b, factor in zip(self.projections, self.values, self.biases, factors, strict=True):
            places = np.eye(N)[:, ::factor]
            mask = jnp.asarray(np.broadcast_to(places.sum(1), (count, N)))
            heads.append(SparseAttention(self.kernel, self.tokens @ A.T, jnp.asarray(places) @ v, b, mask))
        return MultiHead(self.projections, tuple(heads), self.outputs)

    def __call__(self, queries: Float[Array, "n D"]) -> Float[Array, "n O"]:
        """The output at every query."""
        return self.heads(queries)


def reduction(kind: Reduction | int, count: int, factor: int, taps: Any = None) -> Float[Array, "M N"]:
    """The matrix that takes every ``factor``-th token, the means of as many, or their convolution and one neighbour's."""
    starts = np.arange(0, count, factor)
    if kind == STRIDE:
        return jnp.asarray(np.eye(count)[starts])
    window = [np.eye(count)[np.minimum(starts + place, count - 1)] for place in range(factor + 1)]
    taken = sum(window[:-1]) / factor if kind == POOL else sum(t * w for t, w in zip(taps, window, strict=True))
    return jnp.asarray(taken)


class SparseAttention(eqx.Module):
    """Attention in which a query reads the keys where its row of ``mask`` is one.

    ``values``: one for each key, or one for each query and key; ``bias``: one, or one for each query.
    """

    kernel: AttentionKernel
    keys: Entries[Any, "N D"]
    values: Entries[Any, "N V"] | Entries[Any, "n N V"]
    bias: Entries[Any, " V"] | Entries[Any, "n V"]
    mask: Entries[Any, "n N"]

    def __call__(self, queries: Float[Array, "n D"]) -> Float[Array, "n V"]:
        """The output at every query."""
        K = self.kernel.kernel(queries, self.keys) * self.mask
        weights = K / K.sum(1, keepdims=True)
        return jnp.sum(weights[:, :, None] * self.values, axis=1) + self.bias


def two_sets(count: int, same: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Every second key, and the first half of the keys, or the former twice."""
    strided = np.arange(0, count, 2)
    return strided, strided if same else np.arange((count + 1) // 2)


def halves(queries: Float[Array, "n D"]) -> tuple[Float[Array, "m D"], Float[Array, "k D"]]:
    """The queries that read the first set, and those that read the second."""
    half = len(queries) // 2
    return queries[:half], queries[half:]


def by_sets(
    kernel: AttentionKernel,
    keys: Float[Array, "N D"],
    values: Sequence[Float[Array, "M V"]],
    biases: Sequence[Float[Array, " V"]],
    queries: Float[Array, "n D"],
    masks: bool = True,
) -> Float[Array, "n V"]:
    """Sparse attention with values and a bias for each of `two_sets`, the `halves` of the queries reading one each.

    Without ``masks`` every query reads all keys, those outside its set with the value zero.
    """
    rows, allowed, each, count = [], [], [], len(keys)
    for block, chosen, v, own in zip(halves(queries), two_sets(count), values, biases, strict=True):
        places, many = np.eye(count)[:, chosen], len(block)
        rows.append(jnp.broadcast_to(jnp.asarray(places) @ v, (many, count, v.shape[1])))
        allowed.append(np.broadcast_to(places.sum(1) if masks else np.ones(count), (many, count)))
        each.append(jnp.broadcast_to(own, (many, v.shape[1])))
    mask = jnp.asarray(np.concatenate(allowed))
    return SparseAttention(kernel, keys, jnp.concatenate(rows), jnp.concatenate(each), mask)(queries)
