r"""Deep fully connected networks, and their pre-activations sampled without the weights: equal in law, O(n) a layer.

$h^1 = W^1 x + b^1$, $h^{l+1} = W^{l+1} \phi(h^l) + b^{l+1}$, the first layer Gaussian, the others square of a law of
`weight_matrices.MENU`, all biases normal. Given the activations of k inputs, the k x n rows $F = R^TQ$ with orthonormal rows Q
and an upper triangle R, the next layer sees W in $QW^T$ alone, and the law of that is known whatever Q is:

- Gaussian: iid normals over $\sqrt n$; with a factor or a common summand for each row of W likewise.
- Haar: the k orthonormal rows of a Haar frame U, since $QW^T$ is k rows of an orthogonal matrix with the law of W.
- Low rank, $W = CP$: $QP^T$ is k x r normals, $BQ'$ with a Bartlett factor B independent of the frame Q'; and C turns Q'
  into a Haar frame U of dimension n, so that $QW^T = BU/\sqrt r$. One input: a direction times $\chi_r/\sqrt r$.
- Permuted blocks: given both partitions, units are independent, and the unit i sees the inputs of its own block: a
  triangle R for every block, and $\sqrt{b/n}$ times normals.

Layers are independent, so that these conditional laws make the joint law of all units, inputs and layers. A layer costs
O(n k^2) in place of O(n^2 k) or O(n^3), and n k random numbers in place of n^2. Blocks sort n numbers to draw a
partition, O(n log n). A randomised Hadamard matrix has no cheaper law: there the product itself is taken, O(k n log n).
"""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from theorax.errors import UsageError
from theorax.names import did_you_mean
from theorax.numerics.annotations import Scalar
from theorax.numerics.ensembles import bartlett, gaussian, orthonormal_rows
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp import _weight_matrices as weight_matrices

Activation = Callable[[Array], Array]


class DeepNetwork(eqx.Module):
    """A fully connected network with its weights; `pre_activations` samples what it returns."""

    first: Float[Array, "N features"]
    hidden: Float[Array, "layers N N"]
    biases: Float[Array, "depth N"]
    activation: Activation
    n: Extent
    depth: Extent

    def __call__(self, x: Float[Array, " features"]) -> Float[Array, "depth N"]:
        """The pre-activations of every layer, zero in layers beyond the depth."""

        def step(number: Array, found: Array) -> Array:
            inner = jnp.where(self.n.mask, self.activation(found[number - 1]), 0)
            return found.at[number].set(self.hidden[number - 1] @ inner + self.biases[number])

        start = jnp.zeros(self.biases.shape, self.biases.dtype).at[0].set(self.first @ x + self.biases[0])
        return jax.lax.fori_loop(1, self.depth.value, step, start)


def deep_network(
    key: PRNGKeyArray,
    features: int,
    n: Extent,
    depth: Extent,
    law: Scalar,
    share: Scalar,
    activation: Activation,
    weight_variance: Scalar = 1.0,
    bias_variance: Scalar = 0.0,
    among: tuple[str, ...] = weight_matrices.MENU,
) -> DeepNetwork:
    """The network whose hidden layers have the law at this place of `weight_matrices.MENU`, entries of variance sw2/n."""
    sigma, layers = _root(weight_variance), jnp.arange(1, depth.padded)
    first = gaussian(named(key, "first layer"), n, Extent(features, features), sigma / _root(features))

    def weight(number: Array) -> Array:
        return sigma * weight_matrices.weights(
            named(key, "layer", number), n, jnp.asarray(law), jnp.asarray(share), among
        )

    hidden = jax.lax.map(weight, layers)
    biases = jax.lax.map(lambda number: _bias(key, number, n, bias_variance), jnp.arange(depth.padded))
    return DeepNetwork(first, hidden, biases, activation, n, depth)


def pre_activations(
    key: PRNGKeyArray,
    x: Float[Array, "inputs features"],
    n: Extent,
    depth: Extent,
    law: Scalar,
    share: Scalar,
    activation: Activation,
    weight_variance: Scalar = 1.0,
    bias_variance: Scalar = 0.0,
    among: tuple[str, ...] = weight_matrices.MENU,
) -> Float[Array, "depth inputs {n.padded}"]:
    r"""Pre-activations of a random network at these inputs: every layer, input and unit, jointly equal in law.

    They are zero beyond the depth, and not a number from the second layer on for a law that has no sampler.

    **Errors:** the law is exact; rounding as in the product with real weights, the triangle being that of F + E with
    $\|E\|_F \le c k^{3/2} n u \|F\|_F$, c a small constant and u the unit roundoff.

    **Source:** Bjorck 1967 for the rounding of modified Gram-Schmidt.
    """
    sigma = _root(weight_variance)
    first = triangles(x)[:, :, 0].T @ _normals(named(key, "first layer"), len(x), n) / _root(x.shape[-1])
    start = sigma * first + _bias(key, 0, n, bias_variance)

    def step(number: Array, found: Array) -> Array:
        inner = jnp.where(n.mask, activation(found[number - 1]), 0)
        outer = sigma * layer(named(key, "layer", number), inner, n, law, share, among)
        return found.at[number].set(outer + _bias(key, number, n, bias_variance))

    empty = jnp.zeros((depth.padded, *start.shape), start.dtype)
    return jax.lax.fori_loop(1, depth.value, step, empty.at[0].set(start))


def layer(
    key: PRNGKeyArray,
    F: Float[Array, "inputs N"],
    n: Extent,
    law: Scalar,
    share: Scalar,
    among: tuple[str, ...] = weight_matrices.MENU,
) -> Float[Array, "inputs N"]:
    """$FW^T$ in law for W of the law at this place of `weight_matrices.MENU`; not a number where there is no sampler.

    ``among``: the laws that the program holds, each of which costs a compilation.
    """

    # Ranks and shares of n have one sampler, and all draw their normals here: each branch costs a compilation.
    share = jnp.where(law == weight_matrices.MENU.index("low rank"), jnp.round(share * n.value), share)
    held = [SAMPLERS.get(name, _none) if name in among else _none for name in weight_matrices.MENU]
    makers = tuple(dict.fromkeys(held))
    branches = jnp.asarray([makers.index(maker) for maker in held])
    G = _normals(named(key, "normals"), len(F), n)
    return jax.lax.switch(branches[law], makers, key, F, G, n, share)


def place(name: str) -> int:
    """The place in `weight_matrices.MENU` of a law that has a sampler.

    **Raises:** UsageError for a law without one.
    """
    if name not in SAMPLERS:
        raise UsageError(
            f"There is no sampler of layers whose weights are `{name}`{did_you_mean(name, SAMPLERS)}\n"
            f"  Activations can be drawn for: {', '.join(SAMPLERS)}.\n"
            "  Write one of these, or take real weights by `deep_network`."
        )
    return weight_matrices.MENU.index(name)


Maker = Callable[[PRNGKeyArray, Array, Array, Extent, Array], Array]


def _iid(key: PRNGKeyArray, F: Array, G: Array, n: Extent, share: Array) -> Array:
    return _times(triangles(F), G) / _root(n.value)


def _haar(key: PRNGKeyArray, F: Array, G: Array, n: Extent, share: Array) -> Array:
    """At most n inputs."""
    return _times(triangles(F), orthonormal_rows(G))


def _low_rank(key: PRNGKeyArray, F: Array, G: Array, n: Extent, share: Array) -> Array:
    """Fewer ranks than inputs leave a Bartlett factor with as many columns as there are degrees of freedom."""
    inputs, rank = Extent(len(F), len(F)), jnp.asarray(share, jnp.int32)
    B = bartlett(named(key, "coefficients"), inputs, Extent(rank, n.padded)) * (jnp.arange(len(F)) < rank)
    return _times(triangles(F), B @ orthonormal_rows(G)) / _root(rank)


def _blocks(key: PRNGKeyArray, F: Array, G: Array, n: Extent, share: Array) -> Array:
    rows, columns = (
        (_permutation(named(key, name), n) * share // n.value).astype(jnp.int32) for name in ("rows", "columns")
    )
    # Padded units have no activation and no normals, whatever their label is.
    return _times(triangles(F, columns)[..., rows], G) * _root(share / n.value)


def _scaled_rows(key: PRNGKeyArray, F: Array, G: Array, n: Extent, share: Array) -> Array:
    squares = jnp.where(jax.random.bernoulli(named(key, "scales"), shape=(n.padded,)), 1.5, 0.5)
    return _times(triangles(F), G) * jnp.sqrt(squares / n.value)


def _correlated_rows(key: PRNGKeyArray, F: Array, G: Array, n: Extent, share: Array) -> Array:
    """The common summand of a row sees the sum of the activations."""
    common = F.sum(axis=1, keepdims=True) * _normals(named(key, "of the row"), 1, n)
    return (jnp.sqrt(3.0) * _times(triangles(F), G) + common) / _root(4 * n.value)


def _hadamard(key: PRNGKeyArray, F: Array, G: Array, n: Extent, share: Array) -> Array:
    """The product itself, by the fast transform; n is a power of two."""
    rows, columns = (_permutation(named(key, name), n) for name in ("rows", "columns"))
    signs = jax.random.rademacher(named(key, "signs"), (2, n.padded)).astype(F.dtype)
    order = 1 << (n.padded - 1).bit_length()
    x = jnp.zeros((len(F), order), F.dtype).at[:, columns].set(F * signs[0])
    for axis in range(order.bit_length() - 1):
        pairs = x.reshape(len(F), -1, 2, 1 << axis)
        x = jnp.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2).reshape(x.shape)
    return jnp.where(n.mask, x[:, rows] * signs[1] * _root(1 / n.value), 0)


def _none(key: PRNGKeyArray, F: Array, G: Array, n: Extent, share: Array) -> Array:
    return jnp.full_like(F, jnp.nan)


SAMPLERS: dict[str, Maker] = {
    "gaussian": _iid,
    "haar": _haar,
    "low rank": _low_rank,
    "fixed rank": _low_rank,
    "blocks": _blocks,
    "scaled rows": _scaled_rows,
    "correlated rows": _correlated_rows,
    "hadamard": _hadamard,
}


def triangles(
    F: Float[Array, "inputs N"], labels: Int[Array, " N"] | None = None
) -> Float[Array, "inputs inputs groups"]:
    r"""Upper triangles R with $R^TR = FF^T$, of all units together or of the units of each label below N.

    Modified Gram-Schmidt on the rows; where a row depends on those before it, or vanishes, its row of R is zero up to
    rounding, and the product still holds.
    """
    groups = F.shape[1]

    def total(x: Array) -> Array:
        if labels is None:
            return x.sum(axis=-1, keepdims=True)
        return jnp.zeros((*x.shape[:-1], groups), x.dtype).at[..., labels].add(x)

    rows = []
    for i in range(len(F)):
        length = jnp.sqrt(total(F[i] ** 2))
        length = jnp.where(length > 0, length, 1)
        q = F[i] / (length if labels is None else length[labels])
        row = jnp.where(jnp.arange(len(F))[:, None] >= i, total(F * q), 0)
        F = F - (row if labels is None else row[..., labels]) * q
        rows.append(row)
    return jnp.stack(rows)


def _times(R: Float[Array, "inputs inputs groups"], U: Float[Array, "inputs N"]) -> Float[Array, "inputs N"]:
    """$R^TU$, with one triangle for all units or one for each."""
    return jnp.sum(R * U[:, None, :], axis=0)


def _normals(key: PRNGKeyArray, inputs: int, n: Extent) -> Float[Array, "inputs {n.padded}"]:
    return gaussian(key, Extent(inputs, inputs), n)


def _bias(key: PRNGKeyArray, number: Array | int, n: Extent, variance: Scalar) -> Float[Array, " {n.padded}"]:
    """Biases of the layer of this number, counted from zero."""
    return jnp.where(n.mask, _root(variance) * jax.random.normal(named(key, "bias", number), (n.padded,)), 0)


def _permutation(key: PRNGKeyArray, n: Extent) -> Int[Array, " {n.padded}"]:
    """A random permutation of 0 .. n-1 in the meant places; the padded places keep their own."""
    return jnp.argsort(jnp.where(n.mask, jax.random.uniform(key, (n.padded,)), 2.0))


def _root(x: Scalar) -> Float[Array, ""]:
    return jnp.sqrt(jnp.asarray(x, jnp.zeros(()).dtype))
