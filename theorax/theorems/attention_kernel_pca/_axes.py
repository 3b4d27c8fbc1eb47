"""Kernel PCA of the keys with the features phi(x) = psi(x)/g(x), g(x) = sum_j k(x, k_j): what this paper's theorems share.

Kp = (k(k_j, k_l)/(g_j g_l)), centred Kt = J Kp J with J = I - 11^T/N, Kt a_d = N lambda_d a_d, |a_d|^2 = 1/(N lambda_d), and
the axes u_d = sum_j a_dj (phi(k_j) - mean_l phi(k_l)).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from sympy import Integer, Matrix, Rational, Symbol, eye, factor, symbols

from theorax.language import Efforts, Size
from theorax.numerics.annotations import Entries
from theorax.numerics.kernel_attention import FEATURES, KERNELS, LINEAR, PLAIN, SOFTMAX, TAYLOR, AttentionKernel
from theorax.numerics.keys import named

N = Size("N", "number of keys")
D = Size("D", "dimension of keys and queries")

SIZES: dict[Size, Efforts[tuple[int, ...]]] = {N: Efforts((5,), (5, 7), (5, 7, 9))}
DRAWS = Efforts(2, 4, 12)
QUERIES, STEPS = 6, 4

__all__ = [
    "DRAWS", "FEATURES", "KERNELS", "LINEAR", "PLAIN", "QUERIES", "SIZES", "SOFTMAX", "TAYLOR", "AttentionKernel", "D",
    "KeyAxes", "N", "Spectrum", "axes_of", "build_axes", "cayley", "centred", "eigenpairs", "generic_axes", "in_plane",
    "normalised_gram", "refined",
]


class Spectrum(NamedTuple):
    """Eigenvalues lambda_d in decreasing order, and coefficients a_d, one column for each axis."""

    values: Float[Array, " d"]
    A: Float[Array, "N d"]


def normalised_gram(kernel: AttentionKernel, keys: Any) -> tuple[Any, Any]:
    """Kp, and g at the keys."""
    K = kernel.kernel(keys, keys)
    g = K.sum(1)
    return K / (g[:, None] * g[None, :]), g


def centred(K: Any) -> Any:
    """J K J."""
    rows = K - K.sum(0, keepdims=True) / len(K)
    return rows - rows.sum(1, keepdims=True) / len(K)


def refined(K: Float[Array, "N N"], X: Float[Array, "N N"]) -> tuple[Float[Array, " N"], Float[Array, "N N"]]:
    r"""Eigenvalues and orthonormal eigenvectors of K by Newton steps from approximate ones, in every arithmetic.

    With $R = I - X^T X$ and $S = X^T K X$ a step is $X + XE$, $E_{ij} = (S_{ij} + \mu_j R_{ij})/(\mu_j - \mu_i)$: to first
    order in E the columns of X + XE are orthonormal and K is diagonal in them.

    **Errors:** squared in each step, by the largest eigenvalue over the least gap: from floats, four steps are enough for
    five hundred bits. Eigenvalues that agree to 10^-11 of the largest are left as they are, a basis of their space.
    """
    I = jnp.eye(len(K), dtype=K.dtype)
    mu = jnp.zeros(len(K), dtype=K.dtype)
    for _ in range(STEPS):
        R, S = I - X.T @ X, X.T @ K @ X
        mu = jnp.diagonal(S) / (1 - jnp.diagonal(R))
        gaps = mu[None, :] - mu[:, None]
        apart = jnp.abs(gaps) > 1e-11 * mu[0]
        X = X + X @ jnp.where(apart, (S + mu[None, :] * R) / jnp.where(apart, gaps, 1), R / 2)
    return mu, X


def eigenpairs(K: Float[Array, "N N"], guess: Float[Array, "N N"], count: int) -> Spectrum:
    """The first ``count`` pairs of Kt, with |a_d|^2 = 1/(N lambda_d)."""
    mu, X = refined(K, guess)
    return Spectrum(mu[:count] / len(K), X[:, :count] / jnp.sqrt(mu[:count]))


class KeyAxes(eqx.Module):
    """Keys and queries, and what the eigenvectors of the Gram matrix are refined from.

    ``longer``: a factor of every a_d; ``turned``: the share of the next coefficients that is mixed in; ``plain``: the Gram
    matrix is not centred; ``more``: keys that the normaliser of a query counts in addition.
    """

    kernel: AttentionKernel
    keys: Entries[Any, "N D"]
    queries: Entries[Any, "n D"]
    more: Entries[Any, "m D"]
    guess: Float[Array, "N N"]
    longer: Any
    turned: Any
    plain: Any


def first_basis(K: Float[Array, "N N"]) -> Float[Array, "N N"]:
    """Eigenvectors as floats have them, the largest eigenvalue first."""
    return jnp.linalg.eigh(K)[1][:, ::-1]


def build_axes(
    key: Array, N: Any, D: Any, kind: Any, longer: Any, turned: Any, plain: Any, more: Any, repeated: Any = 0
) -> KeyAxes:
    """Standard normal keys and queries; ``repeated``: two keys are the same."""
    shapes = dict(keys=(N, D), queries=(QUERIES, D), more=(int(more), D))
    keys, queries, extra = (jax.random.normal(named(key, name), shape) for name, shape in shapes.items())
    keys = jnp.where(jnp.asarray(repeated) == 1, keys.at[1].set(keys[0]), keys)
    kernel = KERNELS[int(kind)]
    K, _ = normalised_gram(kernel, keys)
    return KeyAxes(
        kernel, keys, queries, extra, first_basis(jnp.where(plain == 1, K, centred(K))), longer, turned, plain
    )


def axes_of(model: KeyAxes, count: int) -> Spectrum:
    """The pairs that the model takes for those of Kt."""
    K, _ = normalised_gram(model.kernel, model.keys)
    K = jnp.where(jnp.asarray(model.plain) == 1, K, centred(K))
    values, A = eigenpairs(K, model.guess, count)
    return Spectrum(values, model.longer * (A + model.turned * jnp.asarray(np.roll(np.eye(len(K)), 1, axis=0)) @ A))


def cayley(name: str) -> Any:
    """Rotations (I - S)^-1 (I + S) of space, S skew with generic entries: all but those by half a turn."""
    p, q, r = symbols(f"{name}_1:4", real=True)
    S = Matrix([[0, -r, q], [r, 0, -p], [-q, p, 0]])
    return np.array(((eye(3) - S).inv() * (eye(3) + S)).applyfunc(factor).tolist(), dtype=object)


def in_plane(name: str) -> Any:
    """Rotations about the third axis, all but that by half a turn."""
    t = Symbol(name, real=True)
    c, s = (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]], dtype=object)


def generic_axes(plane: bool = False) -> tuple[Any, Any, Any]:
    """Two features of four keys, centred, any up to a rotation, with coefficients and eigenvalues of their axes.

    By the singular value decomposition: 1/2 and signs are an orthonormal basis of what is orthogonal to 1 in four
    dimensions, which a rotation turns into any other; ``plane``: one that leaves the third of them where it is.
    """
    signs = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    turn = in_plane("p") if plane else cayley("p")
    left = np.array([[Rational(sign, 2) for sign in row] for row in signs.tolist()], dtype=object) @ turn[:, :2]
    s = np.array(symbols("s_1:3", positive=True), dtype=object)
    return left * s, left / s, s**2 / Integer(4)
