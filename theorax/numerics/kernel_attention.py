r"""Attention over a fixed set of keys, $\sum_j \frac{k(q, k_j)}{h(q)} v_j + b$ with $h(q) = \sum_j k(q, k_j)$.

The kernel is that of softmax attention, $e^{\langle x, y\rangle/\sqrt D}$, or $\phi(x) \cdot \phi(y)$ for a feature map:
$\mathrm{elu} + 1$ of linear attention, or the monomials up to some degree, whose kernel is the Taylor polynomial of the
exponential.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from enum import IntEnum
from typing import Any, Final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorax.numerics.annotations import Entries, Scalar

__all__ = [
    "FEATURES", "KERNELS", "LINEAR", "PLAIN", "SOFTMAX", "TAYLOR", "AttentionKernel", "Elu", "Features", "KernelAttention",
    "Plain", "Regression", "Similarity", "Softmax", "Taylor", "exponents", "feature_rows", "monomials", "polynomial",
]  # fmt: skip

Points = Float[Array, "n D"]
Others = Float[Array, "m D"]


class AttentionKernel(eqx.Module):
    """A similarity of points; abstract."""

    @abstractmethod
    def kernel(self, X: Points, Y: Others) -> Float[Array, "n m"]:
        """k(x, y) for every pair."""


class Softmax(AttentionKernel):
    """exp(<x, y>/sqrt(D)); ``scale`` in the place of 1/sqrt(D) if it is given."""

    scale: Any = None

    def kernel(self, X: Points, Y: Others) -> Float[Array, "n m"]:
        """Every one of them positive."""
        products = X @ Y.T
        # The root is taken in the program, so that balls know it to their precision.
        return jnp.exp(
            products / jnp.sqrt(jnp.asarray(X.shape[1], X.dtype)) if self.scale is None else self.scale * products
        )


class Features(AttentionKernel):
    """A kernel with finitely many features; abstract."""

    @abstractmethod
    def __call__(self, X: Points) -> Float[Array, "n F"]:
        """phi(x), a row for every point."""

    def kernel(self, X: Points, Y: Others) -> Float[Array, "n m"]:
        """phi(x) . phi(y)."""
        return self(X) @ self(Y).T


class Elu(Features):
    """elu(x) + 1, which is positive: linear attention."""

    def __call__(self, X: Points) -> Float[Array, "n F"]:
        """As many features as coordinates."""
        return jax.nn.elu(X) + 1


class Plain(Features):
    """x itself: a kernel of both signs, whose normaliser may vanish."""

    def __call__(self, X: Points) -> Float[Array, "n F"]:
        """The points."""
        return X


class Taylor(Features):
    r"""The monomials $x^e D^{-|e|/4}/\sqrt{e!}$ of degree at most ``order``: k is $\sum_{t \le order} s^t/t!$,
    $s = \langle x, y\rangle/\sqrt D$. With ``degree``, which may be traced, those above it are zero.

    **Errors:** each feature is off by a few roundings of itself. For an odd order k may be negative.
    """

    order: int = eqx.field(static=True)
    degree: Any = None

    def __call__(self, X: Points) -> Float[Array, "n F"]:
        """C(D + order, order) features."""
        D = X.shape[1]
        e = exponents(D, self.order)
        # Roots are taken in the program, so that exact arithmetics see them.
        X = X / jnp.sqrt(jnp.sqrt(jnp.asarray(float(D), X.dtype)))
        factorials = [float(math.prod(map(math.factorial, row))) for row in e.tolist()]
        columns = monomials(X, e) / jnp.sqrt(jnp.asarray(factorials, X.dtype))
        return columns if self.degree is None else jnp.where(e.sum(1) <= self.degree, columns, 0)


class Similarity(IntEnum):
    """The kernels that models choose among, as numbers: options of a compiled program.

    Monomials up to an even degree have a kernel that is positive everywhere, as that of softmax is, which they stand in
    for where features are to be seen.
    """

    TAYLOR, LINEAR, PLAIN, SOFTMAX = range(4)


TAYLOR, LINEAR, PLAIN, SOFTMAX = Similarity
FEATURES: Final[tuple[Features, ...]] = (Taylor(4), Elu(), Plain())
KERNELS: Final[tuple[AttentionKernel, ...]] = (*FEATURES, Softmax())


def monomials(X: Points, e: np.ndarray) -> Float[Array, "n F"]:
    """x^e for every row e of exponents."""
    powers = [jnp.ones_like(X)]
    for _ in range(int(e.max())):
        powers.append(powers[-1] * X)
    # One product with zeros and ones picks the power of every coordinate: one step for whoever follows the program.
    chosen = jnp.asarray(e.T[:, :, None] == np.arange(len(powers)), X.dtype)
    factors = jax.lax.dot_general(chosen, jnp.stack(powers), (((2,), (0,)), ((0,), (2,))))
    return jnp.prod(factors, axis=0).T


def polynomial(s: Array, order: int, degree: Any = None) -> Array:
    r"""$\sum_{t \le order} s^t/t!$ by Horner's rule, cut at ``degree``, which may be traced.

    **Errors:** 2 order roundings of the same sum at |s|; for negative s the terms cancel.
    """
    total = jnp.ones_like(s)
    for t in range(order, 0, -1):
        longer = 1 + total * s / t
        total = longer if degree is None else jnp.where(t <= degree, longer, total)
    return total


def exponents(D: int, order: int) -> np.ndarray:
    """The exponents of all monomials of D variables up to this degree, by degree."""
    found = [e for e in itertools.product(range(order + 1), repeat=D) if sum(e) <= order]
    return np.array(sorted(found, key=lambda e: (sum(e), e)))


class KernelAttention(eqx.Module):
    """The layer: each query reads the values with weights k(q, k_j)/h(q)."""

    kernel: AttentionKernel
    keys: Entries[Any, "n D"]
    values: Entries[Any, "N V"]
    bias: Entries[Any, " V"]

    def weights(self, Q: Points) -> Float[Array, "n N"]:
        """Rows that sum to one."""
        K = self.kernel.kernel(Q, self.keys)
        return K / K.sum(1, keepdims=True)

    def __call__(self, Q: Points) -> Float[Array, "n V"]:
        """The output at every query."""
        return self.weights(Q) @ self.values + self.bias


def feature_rows(features: Features, keys: Entries[Any, "N D"], X: Points) -> Float[Array, "n F"]:
    """phi(x)/h(x), a row for every point, h being summed over ``keys``."""
    rows = features(X)
    return rows / (rows @ features(keys).sum(0))[:, None]


class Regression(eqx.Module):
    """f(x) = W phi(x)/h(x) + b: linear in normalised features, h being summed over ``keys``."""

    features: Features
    keys: Entries[Any, "n D"]
    W: Entries[Any, "V F"]
    bias: Entries[Any, " V"] | Scalar

    def rows(self, X: Points) -> Float[Array, "n F"]:
        """phi(x)/h(x)."""
        return feature_rows(self.features, self.keys, X)

    def __call__(self, X: Points) -> Float[Array, "n V"]:
        """f at every point."""
        return self.rows(X) @ self.W.T + self.bias
