"""An attention network that is linear in its values, with attention that looks at the raw input alone."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.keys import named


class PathNetwork(eqx.Module):
    """One attention layer with values V, an embedding V_0 and a readout a; ``bias`` is added to the embedded tokens."""

    embedding: Float[Array, "width features"]
    values: Float[Array, "heads width width"]
    readout: Float[Array, " width"]
    queries: Float[Array, "heads features features"]
    bias: Float[Array, ""]

    def attention(self, x: Float[Array, "features tokens"]):
        """Weights by which the last token attends to each token, in each head; they are not learned."""
        return jax.nn.softmax(jnp.einsum("fs,hfg,g->hs", x, self.queries, x[:, -1]), axis=-1)

    def __call__(self, x: Float[Array, "features tokens"]):
        """The output at the last token."""
        width, heads = len(self.readout), len(self.values)
        tokens = self.embedding @ x / jnp.sqrt(len(x)) + self.bias
        attended = jnp.einsum("hs,ns->hn", self.attention(x), tokens)
        mixed = jnp.einsum("hmn,hn->m", self.values, attended) / jnp.sqrt(heads * width)
        return self.readout @ mixed / jnp.sqrt(width)


def drawn(key, width, features, heads, bias, deviation):
    """A network with weights of standard deviation ``deviation``, and queries and keys of order one."""
    normal = lambda name, *shape: jax.random.normal(named(key, name), shape)
    return PathNetwork(
        deviation * normal("embedding", width, features),
        deviation * normal("values", heads, width, width),
        deviation * normal("readout", width),
        normal("queries", heads, features, features) / jnp.sqrt(features),
        jnp.asarray(bias, float),
    )
