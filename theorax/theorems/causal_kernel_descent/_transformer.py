r"""A causal Transformer with explicit weights: attention heads that see the past, a residual connection, and no MLP.

A head reads queries, keys and values off the tokens by its weights and mixes the values of the positions up to its own
by $\langle q_t, k_s\rangle$ (linear), $e^{\langle q_t, k_s\rangle}$ (exponential), or the latter divided by a sum.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from theorax.numerics.annotations import Scalar
from theorax.theorems.causal_kernel_descent._descent import kernel


class Head(eqx.Module):
    """One head: its weights, and the positions it may attend to (``mask``)."""

    queries: Float[Array, "k D"]
    keys: Float[Array, "k D"]
    values: Float[Array, "v D"]
    output: Float[Array, "D v"]

    def weights(self, E: Float[Array, "T D"], mask: Bool[Array, "T T"], exponential: Scalar) -> Float[Array, "T T"]:
        """Linear or exponential attention weights at these tokens; zero outside the mask."""
        products = (E @ self.queries.T) @ (E @ self.keys.T).T
        return jnp.where(mask, kernel(products, exponential), 0)

    def mixed(self, weights: Float[Array, "T T"], E: Float[Array, "T D"]) -> Float[Array, "T D"]:
        """Output of the head, given its weights."""
        return (weights @ (E @ self.values.T)) @ self.output.T


class CausalLayer(eqx.Module):
    """Two heads on a residual stream; the second starts at the second position where ``boundary`` is one.

    ``softmax``: 0 as the kernel says; 1 every head divides its weights by the sum of those of the first head; 2 each by
    its own sum. A row without weights is zero.
    """

    first: Head
    second: Head
    exponential: Scalar
    boundary: Scalar
    softmax: Scalar

    def __call__(self, E: Float[Array, "T D"]) -> Float[Array, "T D"]:
        """The tokens after the layer."""
        T = E.shape[0]
        mask = jnp.tril(jnp.ones((T, T), bool))
        later = mask & ((jnp.arange(T)[None, :] > 0) | (jnp.asarray(self.boundary) != 1))
        one, two = (
            head.weights(E, seen, self.exponential) for head, seen in ((self.first, mask), (self.second, later))
        )
        own, ones = one.sum(1, keepdims=True), jnp.ones((T, 1), E.dtype)
        total = two.sum(1, keepdims=True)
        kind = jnp.asarray(self.softmax)
        one = one / jnp.where(kind > 0, own, ones)
        two = two / jnp.where(kind == 1, own, jnp.where((kind == 2) & later.any(1, keepdims=True), total, ones))
        return E + self.first.mixed(one, E) + self.second.mixed(two, E)


class CausalTransformer(eqx.Module):
    """An embedding, a head that fetches the token before, identical causal layers, and a projection.

    The fetching head attends by position alone: a relative bias that is large at s = t - 1.
    """

    embedding: Float[Array, "D d"]
    fetch: Float[Array, "D D"]
    layer: CausalLayer
    projection: Float[Array, "d D"]

    def embedded(self, X: Float[Array, "T d"]) -> Float[Array, "T D"]:
        """The residual stream before the first layer."""
        E = X @ self.embedding.T
        return E + jnp.concatenate([jnp.zeros_like(E[:1]), E[:-1]]) @ self.fetch.T

    def __call__(self, X: Float[Array, "T d"], layers: int) -> Float[Array, "layers T d"]:
        """The predictions of the next token at every position, read off after 1, ..., ``layers`` layers."""

        def forward(E: Array, _: None) -> tuple[Array, Array]:
            E = self.layer(E)
            return E, E @ self.projection.T

        return jax.lax.scan(forward, self.embedded(X), None, length=layers)[1]


def kernel_descent_transformer(
    d: int,
    step: Scalar,
    exponential: Scalar,
    softmax: Scalar = 0,
    boundary: Scalar = 1,
    previous: Scalar = 1.0,
) -> CausalTransformer:
    r"""The Transformer whose layers are those of causal kernel descent with this step.

    The residual stream holds (u_t, x_t, x_{t-1}). The first head has query x_t, key x_s, value u_s and writes -step
    times it into u; the second has query x_t, key x_{s-1}, value x_s and writes step times it. ``previous`` is one;
    zero lets the second head's keys be x_s, a control. ``boundary``: the second head leaves out s = 1, whose key is
    empty: needed where a weight at an empty key is not zero.

    **Source:** Sander and Peyre 2025, section 4 (reconstructed).
    """
    one, zero = jnp.eye(d), jnp.zeros((d, d))
    places = ((one, zero, zero), (zero, one, zero), (zero, zero, one))
    u, x, before = (jnp.concatenate(blocks, axis=1) for blocks in places)
    layer = CausalLayer(
        Head(x, x, u, -step * u.T),
        Head(x, previous * before + (1 - previous) * x, x, step * u.T),
        exponential,
        boundary,
        softmax,
    )
    return CausalTransformer(x.T, before.T @ x, layer, u)
