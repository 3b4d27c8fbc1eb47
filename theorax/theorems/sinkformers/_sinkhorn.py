r"""Attention normalised by Sinkhorn's algorithm: the setting that the theorems of this paper share.

Scores $C_{ij} = \langle W_Q x_i, W_K x_j\rangle$, $K^0 = e^C$. $K^\ell$ alternates row and column normalisations, rows
first, so that $K^1$ is softmax; $K^\infty$ is the limit, whose rows and columns sum to one.

The loop is our own because the theorems are about single half-steps. The solver of ott-jax 0.6.0 (float64, gradient and
iteration count were tried) ends on rows and returns whole iterations, so that neither $K^1$ nor a matrix that ends on
columns can be read off. Its trace holds random seeds, for which the reruns in balls have no rule, and it cannot run on
symbols. It would add jaxopt and optax, and 1.3 s of import.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from sympy import Rational

from theorax.language import Efforts, Hypothesis, Size
from theorax.numerics.annotations import Entries, Scalar
from theorax.numerics.keys import named

n = Size("n", "number of tokens")
d = Size("d", "dimension of the tokens")
LIMIT = Hypothesis("Sinkhorn's algorithm is run to its limit", name="limit")
DRAWS = Efforts(2, 4, 12)

# A loop that ends before its limit is no rational identity: draws alone decide, and leave this share of their law open.
CONTENT = Rational(1, 10)
MANY = Efforts(96, 96, 300)
FEW_TOKENS: Efforts[tuple[int, ...]] = Efforts((4,), (4, 6), (4, 6))

CONVERGED = 160
"""Half-steps after which scores below 1/4 leave at most tanh(1/4)^160 = 2^-325 of the start, by the global contraction.

Balls of 256 bits do not see what is left.
"""


class SinkhornLayer(eqx.Module):
    """One residual attention layer: its weights, and the half-steps of its normalisation."""

    W_Q: Entries[Any, "k d"]
    W_K: Entries[Any, "k d"]
    W_V: Entries[Any, "d d"]
    halves: Scalar = CONVERGED

    def scores(self, X: Float[Array, "n d"]) -> Float[Array, "n n"]:
        """C_ij = <W_Q x_i, W_K x_j>."""
        return (X @ self.W_Q.T) @ (X @ self.W_K.T).T

    def weights(self, X: Float[Array, "n d"]) -> Float[Array, "n n"]:
        """K after the half-steps of this layer."""
        return normalised(jnp.exp(self.scores(X)), self.halves)

    def drift(self, X: Float[Array, "n d"], K: Float[Array, "n n"]) -> Float[Array, "n d"]:
        """sum_j K_ij W_V x_j, to which the step size of the residual layer is applied."""
        return K @ (X @ self.W_V.T)


def scalings(K: Float[Array, "*batch n n"], halves: Scalar, mass: Any = 1.0) -> tuple[Array, Array]:
    r"""u and v such that $u_i K_{ij} v_j$ is the matrix after ``halves`` half-steps, at most ``CONVERGED``.

    With the masses m of the tokens, rows satisfy $\sum_j u_i K_{ij} v_j m_j = 1$, and columns likewise.

    Scalings, not matrices, are iterated: their relative rounding errors add up and do not double.
    """

    def both(state: tuple[Array, Array], k: Array) -> tuple[tuple[Array, Array], None]:
        u, v = state
        u = jnp.where(2 * k < halves, 1 / (K * (mass * v)[..., None, :]).sum(-1), u)
        v = jnp.where(2 * k + 1 < halves, 1 / (K * (mass * u)[..., :, None]).sum(-2), v)
        return (u, v), None

    ones = jnp.ones(K.shape[:-1], K.dtype)
    return jax.lax.scan(both, (ones, ones), jnp.arange(CONVERGED // 2))[0]


def normalised(K: Float[Array, "*batch n n"], halves: Scalar = CONVERGED) -> Float[Array, "*batch n n"]:
    """K after so many half-steps, rows first."""
    u, v = scalings(K, halves)
    return u[..., :, None] * K * v[..., None, :]


def softmax(K: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """Rows normalised."""
    return K / K.sum(1, keepdims=True)


def relative_entropy(K: Float[Array, "n n"], K_0: Float[Array, "n n"]) -> Float[Array, ""]:
    """sum_ij K_ij log(K_ij/K0_ij)."""
    return (K * (jnp.log(K) - jnp.log(K_0))).sum()


def tokens(key: Array, n: int, d: int) -> Float[Array, "{n} {d}"]:
    """Tokens of length at most one."""
    return jax.random.uniform(named(key, "tokens"), (n, d), minval=-1.0) / d**0.5


def form(key: Array, d: int, skew: Scalar, size: float = 0.25) -> Float[Array, "{d} {d}"]:
    """A = W_Q^T W_K of Frobenius norm ``size``: symmetric, or with a skew part added to it."""
    raw = jax.random.normal(named(key, "A"), (d, d))
    A = raw + raw.T + skew * (raw - raw.T)
    return size * A / jnp.sqrt((A**2).sum())
