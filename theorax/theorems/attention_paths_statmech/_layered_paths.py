"""An attention network of any depth that is linear in its values, its attention paths and their kernels."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.annotations import Entries
from theorax.numerics.keys import named


class DeepPaths(eqx.Module):
    """Layers of attention with values V^1, ..., V^L, an embedding V_0 and a readout a.

    ``relu_share``: the share of embedded tokens that pass through sqrt(2) ReLU, the others stay; None on symbols.
    ``hidden``: the part that embedded tokens have in the scores, which else look at the raw input alone.
    """

    embedding: Entries[Any, "width features"]
    values: tuple[Entries[Any, "heads _ _"], ...]  # layer l is N_(l+1) x N_l
    readout: Entries[Any, " _"]
    queries: tuple[Entries[Any, "heads features features"], ...]
    hidden: Float[Array, ""] | float = 0.0
    relu_share: Float[Array, ""] | None = None

    def attention(self, x):
        """Weights of the keys s for each query t, heads x s x t, for every layer."""
        features = len(x)
        looked_at = x + self.hidden * (self.embedding @ x / jnp.sqrt(1.0 * features))[:features]
        scores = (jnp.exp(jnp.einsum("fs,hfg,gt->hst", looked_at, W, looked_at)) for W in self.queries)
        return [powers / powers.sum(1, keepdims=True) for powers in scores]

    def __call__(self, x):
        """The output at the last token of x, features x tokens."""
        tokens = self.embedding @ x / jnp.sqrt(1.0 * len(x))
        if self.relu_share is not None:
            tokens = tokens + self.relu_share * (jnp.sqrt(2.0) * jax.nn.relu(tokens) - tokens)
        for V, weights in zip(self.values, self.attention(x), strict=True):
            heads, _, below = V.shape
            tokens = jnp.einsum("hmn,ns,hst->mt", V, tokens, weights) / jnp.sqrt(1.0 * heads * below)
        return self.readout @ tokens[:, -1] / jnp.sqrt(1.0 * len(self.readout))

    def path_weights(self):
        """The row a^T V^(L,h_L) ... V^(1,h_1) for each path, over the root of the widths N_a N_L ... N_2."""
        rows = self.readout[None, :]
        for V in reversed(self.values):
            rows = jnp.einsum("pm,hmn->hpn", rows, V).reshape(-1, V.shape[2]) / jnp.sqrt(1.0 * V.shape[1])
        return rows

    def attended(self, x):
        """The input that each path brings to the last token, paths x features; attention looks at x alone."""
        reached = jnp.eye(x.shape[1])[-1:]
        bare = eqx.tree_at(lambda network: network.hidden, self, 0.0)
        for weights in reversed(bare.attention(x)):
            reached = jnp.einsum("hst,pt->hps", weights, reached).reshape(-1, x.shape[1])
        return reached @ x.T

    def order_parameter(self):
        """U, the products of the paths' rows over the width N_1."""
        rows = self.path_weights()
        return rows @ rows.T / rows.shape[1]


def mixed_kernel(U, attended):
    """K = (1/Htot) sum U_pp' C_pp', from the attended inputs, paths x examples x features."""
    return jnp.einsum("pq,pif,qjf->ij", U, attended, attended) / (len(U) * attended.shape[2])


def drawn_deep(key, widths, heads, features, hidden=0.0, relu_share=None, deviation=1.0):
    """A network with normal weights, those of V and a of this deviation; ``widths``: N_1, N_2, ..., N_a."""
    normal = lambda name, *shape: jax.random.normal(named(key, name), shape)
    layers = range(len(widths) - 1)
    return DeepPaths(
        normal("embedding", widths[0], features),
        tuple(deviation * normal(f"values {k}", heads, widths[k + 1], widths[k]) for k in layers),
        deviation * normal("readout", widths[-1]),
        tuple(normal(f"queries {k}", heads, features, features) / jnp.sqrt(1.0 * features) for k in layers),
        jnp.asarray(hidden, float),
        relu_share,
    )
