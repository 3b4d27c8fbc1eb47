r"""A regression fitted on the keys of a sequence through $\phi(x)/h(x)$, by its primal and its dual program.

$k(x, y) = \phi(x) \cdot \phi(y)$, $h(x) = \sum_j k(x, k_j)$, rows $x_j = \phi(k_j)/h(k_j)$ and $G = (x_j \cdot x_l)$. The
function that the primal program finds is linear in $\phi(x)/h(x)$; what the dual program finds are the values
$v_j = \beta_j/h(k_j)$ of an attention layer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.extents import Extent
from theorax.numerics.kernel_attention import (
    AttentionKernel,
    Features,
    KernelAttention,
    Regression,
    feature_rows,
)
from theorax.numerics.keys import named
from theorax.theorems.primal_dual_attention._attention_layers import MultiHead
from theorax.theorems.primal_dual_attention._quadratic import (
    Dual,
    Primal,
    cholesky,
    feasible,
    lower_bound,
    pseudo_solved,
    solve_dual,
    solve_primal,
    solved,
    upper_bound,
)

__all__ = ["OUTPUTS", "QUERIES", "Fitted", "FittedHeads", "fit", "gram", "interpolant", "inverse", "points"]

QUERIES: Final = 6
OUTPUTS: Final = 2


def points(key: Array, N: Extent, D: Extent) -> tuple[Array, Array, Array]:
    """Keys, queries and targets with standard normal entries."""
    shapes = dict(keys=(N.padded, D.padded), queries=(QUERIES, D.padded), targets=(N.padded, OUTPUTS))
    keys, queries, targets = (jax.random.normal(named(key, name), shape) for name, shape in shapes.items())
    return keys, queries, targets


def gram(kernel: AttentionKernel, keys: Float[Array, "N D"]) -> tuple[Float[Array, "N N"], Float[Array, " N"]]:
    """G and the normalisers h, by the kernel.

    **Errors:** relative, those of three kernel values and N roundings, where the kernel is positive.
    """
    K = kernel.kernel(keys, keys)
    h = K.sum(1)
    return K / (h[:, None] * h[None, :]), h


def inverse(kernel: AttentionKernel, keys: Float[Array, "N D"]) -> Callable[[Array], Array]:
    """The map v -> G^-1 v, or G^+ v where there are fewer features than keys.

    **Errors:** those of `solved` and `pseudo_solved`.
    """
    if isinstance(kernel, Features):
        rows = feature_rows(kernel, keys, keys)
        if rows.shape[1] < rows.shape[0]:
            return partial(pseudo_solved, rows)
    return partial(solved, gram(kernel, keys)[0])


def interpolant(invert: Callable[[Array], Array], y: Float[Array, "N V"], free: Any) -> tuple[Array, Array, Array]:
    r"""Coefficients and bias with $y = G\beta + b$ and $\sum\beta = 0$: $b = 1^T G^{-1} y/1^T G^{-1} 1$.

    ``free`` is zero where b is no variable. The third part is $G^{-1} y$.

    **Errors:** those of ``invert``; where G is singular nothing is met.
    """
    both = invert(jnp.concatenate([y, jnp.ones((len(y), 1), y.dtype)], axis=1))
    plain, one = both[:, :-1], both[:, -1:]
    b = free * plain.sum(0) / one.sum()
    return plain - one * b, b, plain


class Fitted(eqx.Module):
    """Keys, queries and targets, and what the two programs, solved separately, make of them.

    For a kernel without finitely many features ``rows`` is the Cholesky factor of G: the same program in other
    coordinates.
    """

    kernel: AttentionKernel
    keys: Float[Array, "N D"]
    queries: Float[Array, "n D"]
    targets: Float[Array, "N V"]
    primal: Primal
    dual: Dual
    root: Array | None
    bias: bool = eqx.field(static=True)

    @property
    def h(self) -> Float[Array, " N"]:
        """The normaliser at the keys."""
        return self.kernel.kernel(self.keys, self.keys).sum(1)

    @property
    def rows(self) -> Float[Array, "N F"]:
        """The rows of the program."""
        return self.root if self.root is not None else self.regression.rows(self.keys)

    @property
    def gram(self) -> Float[Array, "N N"]:
        """G, by the rows."""
        return self.rows @ self.rows.T

    @property
    def regression(self) -> Regression:
        """The function that the primal program found."""
        assert isinstance(self.kernel, Features)
        return Regression(self.kernel, self.keys, self.primal.W, self.primal.b)

    @property
    def attention(self) -> KernelAttention:
        """The layer whose values and bias the dual program found."""
        return KernelAttention(self.kernel, self.keys, self.dual.beta / self.h[:, None], self.dual.b)

    def above(self, C: Any, eps: Any) -> Float[Array, ""]:
        """The value of the primal program at what it found, its slacks being those that W and b need."""
        return upper_bound(self.primal, self.rows, self.targets, C, eps)

    def multipliers(self, C: Any) -> tuple[Float[Array, "N V"], Float[Array, "N V"]]:
        """Multipliers that the dual program found, repaired to feasibility."""
        return feasible(self.dual, C, self.bias)

    def below(self, C: Any, eps: Any) -> Float[Array, ""]:
        """The value of the dual program at what it found, repaired to feasibility."""
        return lower_bound(*self.multipliers(C), self.gram, self.targets, eps)

    def layer(self, C: Any) -> KernelAttention:
        """The layer with the values of the dual program, repaired to feasibility, and the bias of the primal one."""
        alpha, alphat = self.multipliers(C)
        return KernelAttention(self.kernel, self.keys, (alpha - alphat) / self.h[:, None], self.primal.b)

    def reach(self, C: Any, eps: Any) -> Float[Array, "n 1"]:
        r"""$2 g\,|\phi(q)|^2/h(q)^2$, g the gap: a bound of the squared difference of `regression` and `layer`."""
        rows = self.regression.rows(self.queries)
        return 2 * (self.above(C, eps) - self.below(C, eps)) * (rows**2).sum(1, keepdims=True)


class FittedHeads(eqx.Module):
    r"""A regression solved for each head, and $\sum_s H^s f^s(A^s x)$ of both kinds: as regressions and as layers."""

    fitted: tuple[Fitted, ...]
    queries: Float[Array, "n D"]
    projections: tuple[Float[Array, "k D"], ...]
    outputs: tuple[Float[Array, "D V"], ...]

    @property
    def regressions(self) -> MultiHead:
        """The sum of what the primal programs found."""
        return MultiHead(self.projections, tuple(one.regression for one in self.fitted), self.outputs)

    def layers(self, C: Any) -> MultiHead:
        """The sum of the layers with the values of the dual programs and the biases of the primal ones."""
        return MultiHead(self.projections, tuple(one.layer(C) for one in self.fitted), self.outputs)

    def reach(self, C: Any, eps: Any) -> Float[Array, "n 1"]:
        r"""$S \sum_s |H^s|^2\, 2 g^s |\phi|^2/(h^s)^2$: a bound of the squared difference of the two sums.

        The square of a sum of S numbers is at most S times the sum of their squares.
        """
        squares = sum((H**2).sum() * one.reach(C, eps) for one, H in zip(self.fitted, self.outputs, strict=True))
        return len(self.fitted) * jnp.asarray(squares)


def fit(
    kernel: AttentionKernel, keys: Array, queries: Array, targets: Array, C: Any, eps: Any, bias: Any = True
) -> Fitted:
    """Both programs solved for these targets; ``bias``: whether b is a variable."""
    free = bool(bias)
    if isinstance(kernel, Features):
        root, rows = None, feature_rows(kernel, keys, keys)
    else:
        root = rows = cholesky(gram(kernel, keys)[0])
    primal, dual = solve_primal(rows, targets, C, eps, free), solve_dual(rows, targets, C, eps, free)
    return Fitted(kernel, keys, queries, targets, primal, dual, root, free)
