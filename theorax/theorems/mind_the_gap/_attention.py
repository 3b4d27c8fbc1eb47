r"""Attention-only networks $X_l = A_l X_{l-1} W_l$, and T x T matrices with the same singular values in law.

No biases, heads or output projections: tokens are mixed by a T x T matrix A, multiplied by values W, and that is a
layer.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from theorax.errors import UsageError
from theorax.numerics.annotations import Entries, Scalar
from theorax.numerics.distributions import PositiveLaw
from theorax.numerics.ensembles import bartlett, gaussian, haar, random_markov
from theorax.numerics.extents import Extent, block
from theorax.numerics.keys import named

# The kinds of values.
VALUES: Final = ("gaussian", "identity", "orthogonal")
# A standard deviation, or "1/sqrt(d)": that of values with E W W^T = I.
Sigma: TypeAlias = Scalar | str


def mean_token_removed(A: Float[Array, "N N"], T: Extent, amount: Scalar = 1.0) -> Float[Array, "N N"]:
    r"""$A - cJ$ with $J = \frac1T 1 1^T$ on the T x T block.

    c = 0 leaves A; c = 1 is the full removal, equal to $A(I-J)$ if the rows of A sum to one.

    **Source:** Nait Saada et al. 2025, the fix (reconstructed).
    """
    return A - amount * (block(T, T) / jnp.asarray(T.value, A.dtype))


def softmax_rows(scores: Float[Array, "N N"], T: Extent) -> Float[Array, "N N"]:
    """Softmax of the T x T block along its rows; zero outside it."""
    # The finite floor keeps gradients finite where -inf - -inf would not be; exp of it is zero all the same.
    meant = jnp.where(T.mask[None, :], scores, jnp.finfo(scores.dtype).min / 2)
    weights = jnp.where(block(T, T), jnp.exp(meant - jax.lax.stop_gradient(meant.max(1, keepdims=True))), 0)
    total = weights.sum(1, keepdims=True)
    return weights / jnp.where(total > 0, total, 1)


class Attention(eqx.Module):
    """A way to mix tokens: from the tokens to the matrix that mixes them, zero outside the T x T block."""

    @abc.abstractmethod
    def __call__(self, X: Float[Array, "N D"], T: Extent) -> Float[Array, "N N"]:
        """The T x T attention matrix at these tokens."""


class MarkovAttention(Attention):
    """One fixed row-stochastic matrix, whatever the tokens: the model of softmax attention at initialisation."""

    matrix: Float[Array, "N N"]

    def __call__(self, X: Float[Array, "N D"], T: Extent) -> Float[Array, "N N"]:
        """The matrix."""
        return self.matrix


class GaussianAttention(Attention):
    """One fixed matrix with iid entries of mean zero and variance 1/T: no row sums, hence no outlier. A control."""

    matrix: Float[Array, "N N"]

    def __call__(self, X: Float[Array, "N D"], T: Extent) -> Float[Array, "N N"]:
        """The matrix."""
        return self.matrix


class IdentityAttention(Attention):
    """Every token sees itself alone: A = I."""

    def __call__(self, X: Float[Array, "N D"], T: Extent) -> Float[Array, "N N"]:
        """The identity of size T."""
        return jnp.diag(T.mask.astype(X.dtype))


class UniformAttention(Attention):
    """Every token sees all tokens alike: A = J, of rank one."""

    def __call__(self, X: Float[Array, "N D"], T: Extent) -> Float[Array, "N N"]:
        """The matrix of entries 1/T."""
        return block(T, T) / jnp.asarray(T.value, X.dtype)


class KeyQueryAttention(Attention):
    r"""$A = \mathrm{softmax}(\beta\, X W_Q W_K^T X^T / \sqrt{d_{qk}})$ along rows, with inverse temperature $\beta$."""

    W_Q: Float[Array, "D K"]
    W_K: Float[Array, "D K"]
    d_qk: Extent
    beta: Scalar = 1.0

    def __call__(self, X: Float[Array, "N D"], T: Extent) -> Float[Array, "N N"]:
        """Softmax over the tokens that are meant; the rows of the others are zero."""
        scores = self.beta * (X @ self.W_Q) @ (X @ self.W_K).T / jnp.sqrt(jnp.asarray(self.d_qk.value, X.dtype))
        return softmax_rows(scores, T)


class AttentionNet(eqx.Module):
    r"""$X_l = (A_l(X_{l-1}) - cJ)\, X_{l-1} W_l$, plus $X_{l-1}$ with ``skip``, then layer norm if asked for.

    ``removed`` is c: 0 for the naive network, 1 for the fixed one, anything between for a partial removal. A pure
    function of tokens and weights, to be differentiated by `with_values`.

    **Source:** Nait Saada et al. 2025, the model (read in the authors' code), layer norm after the skip connection.
    """

    attentions: tuple[Attention, ...]
    values: tuple[Entries[Any, "D D"], ...]
    T: Extent
    d: Extent
    removed: Scalar = 0.0
    skip: bool = eqx.field(static=True, default=False)
    layer_norm: bool = eqx.field(static=True, default=False)

    def __check_init__(self) -> None:
        if len(self.attentions) != len(self.values) or not self.values:
            raise UsageError(
                f"A network was given {len(self.attentions)} attentions and {len(self.values)} value matrices.\n"
                "  A layer is one of each, and a network has a layer.\n"
                "  Write as many attentions as values, at least one."
            )

    def __call__(self, X_0: Float[Array, "N D"]) -> Float[Array, "L N D"]:
        """The tokens X_1, ..., X_L after each layer."""
        X, layers = X_0, []
        for attention, W in zip(self.attentions, self.values, strict=True):
            mixed = mean_token_removed(attention(X, self.T), self.T, self.removed) @ X @ W
            X = X + mixed if self.skip else mixed
            X = normalised(X, self.d) if self.layer_norm else X
            layers.append(X)
        return jnp.stack(layers)

    def with_values(self, layer: int, W: Float[Array, "D D"]) -> AttentionNet:
        """The same network with W_l replaced, l from 1 to L: ``jacobian(lambda W: net.with_values(l, W)(X_0)[-1])``."""
        if not 1 <= layer <= len(self.values):
            raise UsageError(f"Layer {layer} was asked for in a network whose layers are 1 to {len(self.values)}.")
        return eqx.tree_at(lambda net: net.values[layer - 1], self, W)


def normalised(X: Float[Array, "N D"], d: Extent, epsilon: float = 1e-5) -> Float[Array, "N D"]:
    """Layer norm without gain: each token minus its mean, over the root of its variance plus ``epsilon``."""
    width = jnp.asarray(d.value, X.dtype)
    centred = jnp.where(d.mask[None, :], X - X.sum(1, keepdims=True) / width, 0)
    return centred / jnp.sqrt((centred**2).sum(1, keepdims=True) / width + epsilon)


def value_matrix(key: PRNGKeyArray, d: Extent, values: str, sigma: Sigma = 1.0) -> Float[Array, "D D"]:
    """The values of one layer: iid N(0, sigma^2), or sigma times the identity or a Haar orthogonal matrix.

    **Raises:** UsageError on another kind.
    """
    _known(values)
    scale = _scale(sigma, d)
    if values == "gaussian":
        return gaussian(key, d, d, scale)
    return scale * (haar(key, d) if values == "orthogonal" else jnp.diag(d.mask.astype(scale.dtype)))


def markov_net(
    key: PRNGKeyArray,
    T: Extent,
    d: Extent,
    depth: int,
    law: PositiveLaw,
    removed: Scalar = 0.0,
    values: str = "gaussian",
    sigma: Sigma = 1.0,
    skip: bool = False,
    layer_norm: bool = False,
) -> AttentionNet:
    """A network of iid random Markov matrices and iid values; one key, the same weights, whatever is removed."""
    layers = _layers(depth)
    attentions = tuple(MarkovAttention(random_markov(named(key, "attention", layer), law, T)) for layer in layers)
    matrices = tuple(value_matrix(named(key, "values", layer), d, values, sigma) for layer in layers)
    return AttentionNet(attentions, matrices, T, d, removed, skip, layer_norm)


def keyquery_net(
    key: PRNGKeyArray,
    T: Extent,
    d: Extent,
    depth: int,
    d_qk: Extent | None = None,
    weight: Sigma = 1.0,
    beta: Scalar = 1.0,
    removed: Scalar = 0.0,
    values: str = "gaussian",
    sigma: Sigma = 1.0,
    skip: bool = False,
    layer_norm: bool = False,
) -> AttentionNet:
    """A network of key-query attentions: W_Q, W_K with iid N(0, weight^2) entries; ``"1/sqrt(d)"`` is Xavier's."""
    inner, scale = d if d_qk is None else d_qk, _scale(weight, d)
    attentions = tuple(
        KeyQueryAttention(
            gaussian(named(key, "queries", layer), d, inner, scale),
            gaussian(named(key, "keys", layer), d, inner, scale),
            inner,
            beta,
        )
        for layer in _layers(depth)
    )
    matrices = tuple(value_matrix(named(key, "values", layer), d, values, sigma) for layer in _layers(depth))
    return AttentionNet(attentions, matrices, T, d, removed, skip, layer_norm)


def markov_products(
    key: PRNGKeyArray,
    law: PositiveLaw,
    T: Extent,
    d: Extent,
    depth: int,
    removed: Scalar = 0.0,
    values: str = "gaussian",
    sigma: Sigma = 1.0,
) -> Float[Array, "L N N"]:
    r"""T x T matrices $M_1..M_L$ whose singular values have, jointly, the law of those of the tokens $X_1..X_L$.

    The tokens are those of `markov_net` from an isometric $X_0$; see `token_products`.
    """
    _known(values)

    def mixing(key: PRNGKeyArray) -> Float[Array, "N N"]:
        return mean_token_removed(random_markov(key, law, T), T, removed)

    return token_products(key, mixing, T, d, depth, values == "gaussian", sigma).products


class TokenProducts(NamedTuple):
    r"""Layers 1..L of a network in T x T matrices: see `token_products`.

    ``growths`` holds for each layer by how much its values stretch the sum of the tokens, $|1^T M_l|^2 / |1^T A_l
    M_{l-1}|^2$. For Gaussian values the growths are independent, and each is $\sigma^2 \chi^2_d$ in law, whatever the A
    are: $c = (A_l M_{l-1})^T 1$ is a constant given everything before $R_l$, and $|c^T R_l|^2 = c^T R_l R_l^T c$, where
    $R_l R_l^T$ is a Wishart matrix of d degrees of freedom (Muirhead 1982, theorem 3.2.8).
    """

    products: Float[Array, "L N N"]
    mixings: Float[Array, "L N N"]
    growths: Float[Array, " L"]


def token_products(
    key: PRNGKeyArray,
    mixing: Callable[[PRNGKeyArray], Float[Array, "N N"]],
    T: Extent,
    d: Extent,
    depth: int,
    gaussian_values: Scalar = True,
    sigma: Sigma = 1.0,
    norms: Float[Array, " N"] | None = None,
) -> TokenProducts:
    r"""T x T matrices $M_1..M_L$ whose singular values have, jointly, the law of those of the tokens.

    $X_l = A_l X_{l-1} W_l$ with $A_l$ = ``mixing(key of layer l)``, from orthogonal tokens of these ``norms`` (one
    if not given): $X_0 = D Q_0$, $Q_0Q_0^T = I$, so T <= d; singular values beyond the T-th are absent. Claim:
    $X_l = M_l Q_l$ with $Q_lQ_l^T=I$ and, for Gaussian values with $\sigma=1$, $M_l = A_l M_{l-1} R_l$, $M_0 = D$, with
    Bartlett factors $R_l$ independent of each other and of the A's.

    By induction: given $(A_k)_k$, $(W_k)_{k<l}$, the frame $Q_{l-1}$ is a constant with orthonormal rows,
    so $G_l = Q_{l-1}W_l$ is a T x d block of iid standard normals (covariance $Q_{l-1}Q_{l-1}^T \otimes I$), *whatever
    that constant is*, hence independent of everything before. Write $G_l = R_lQ_l$ (LQ with positive diagonal):
    $X_l = A_l M_{l-1} Q_{l-1} W_l = A_l M_{l-1} R_l Q_l$, and $R_l$ is a Bartlett factor independent of
    $R_1..R_{l-1}$ and the A's. That X_0 be Haar is not needed; that A not depend on X is.

    Orthogonal values and the identity keep rows orthonormal: $Q_l = Q_{l-1}W_l$ and $M_l = A_l M_{l-1}$ exactly.
    The values' $\sigma$ multiplies each layer. The layers run in one scan: one layer is compiled, whatever the depth.

    **Errors:** those of L products of T x T matrices; the law itself is exact.

    **Raises:** UsageError if T > d where the sizes are known.

    **Source:** Nait Saada et al. 2025 for the model; Bartlett 1933 for R.
    """
    scale = _scale(sigma, d)
    lengths = jnp.ones(T.padded, scale.dtype) if norms is None else norms

    def layer(M: Float[Array, "N N"], index: Int[Array, ""]) -> tuple[Float[Array, "N N"], tuple[Array, ...]]:
        A = mixing(named(key, "attention", index))
        # Of the two products that a layer may need, the one with D scales columns, and the one with I is left out.
        mixed = jax.lax.cond(index == 1, lambda: A * lengths, lambda: A @ M)
        M = scale * jax.lax.cond(
            gaussian_values, lambda: mixed @ bartlett(named(key, "values", index), T, d), lambda: mixed
        )
        return M, (M, A, (M.sum(0) ** 2).sum() / (mixed.sum(0) ** 2).sum())

    empty = jnp.zeros((T.padded, T.padded), scale.dtype)
    return TokenProducts(*jax.lax.scan(layer, empty, jnp.arange(1, _layers(depth).stop))[1])


def _layers(depth: int) -> range:
    """The layers 1..L, which are the indices of their weights' names."""
    if depth < 1:
        raise UsageError(f"A network of depth {depth} has no layer to look at. Write a depth of at least 1.")
    return range(1, depth + 1)


def _scale(sigma: Sigma, d: Extent) -> Float[Array, ""]:
    """The standard deviation as an array in the default float."""
    default = jnp.zeros(()).dtype
    if isinstance(sigma, str):
        if sigma != "1/sqrt(d)":
            raise UsageError(
                f'There is no scale "{sigma}". Write a number, or "1/sqrt(d)" for values with E W W^T = I.'
            )
        return 1 / jnp.sqrt(jnp.asarray(d.value, default))
    return jnp.asarray(sigma, default)


def _known(values: str) -> None:
    if values not in VALUES:
        raise UsageError(f"There are no values `{values}`. Write one of: {', '.join(VALUES)}.")
