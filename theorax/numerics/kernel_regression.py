r"""A regression fitted on the keys of a sequence through $\phi(x)/h(x)$, by its primal and its dual program.

$k(x, y) = \phi(x) \cdot \phi(y)$, $h(x) = \sum_j k(x, k_j)$, rows $x_j = \phi(k_j)/h(k_j)$ and $G = (x_j \cdot x_l)$. The
function that the primal program finds is linear in $\phi(x)/h(x)$; what the dual program finds are the values
$v_j = \beta_j/h(k_j)$ of an attention layer.
"""

from __future__ import annotations

from typing import Any, Final

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.extents import Extent
from theorax.numerics.kernel_attention import Attention, Features, Kernel, Regression
from theorax.numerics.keys import named
from theorax.numerics.quadratic import (
    Dual,
    Primal,
    cholesky,
    feasible,
    lower_bound,
    solve_dual,
    solve_primal,
    upper_bound,
)

__all__ = ["OUTPUTS", "QUERIES", "Fitted", "fit", "points"]

QUERIES: Final = 6
OUTPUTS: Final = 2


def points(key: Array, N: Extent, D: Extent) -> tuple[Array, Array, Array]:
    """Keys, queries and targets with standard normal entries."""
    shapes = dict(keys=(N.padded, D.padded), queries=(QUERIES, D.padded), targets=(N.padded, OUTPUTS))
    keys, queries, targets = (jax.random.normal(named(key, name), shape) for name, shape in shapes.items())
    return keys, queries, targets


class Fitted(eqx.Module):
    """Keys, queries and targets, and what the two programs, solved separately, make of them.

    For a kernel without finitely many features ``rows`` is the Cholesky factor of G: the same program in other
    coordinates.
    """

    kernel: Kernel
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
    def attention(self) -> Attention:
        """The layer whose values and bias the dual program found."""
        return Attention(self.kernel, self.keys, self.dual.beta / self.h[:, None], self.dual.b)

    def above(self, C: Any, eps: Any) -> Float[Array, ""]:
        """The value of the primal program at what it found, its slacks being those that W and b need."""
        return upper_bound(self.primal, self.rows, self.targets, C, eps)

    def multipliers(self, C: Any) -> tuple[Float[Array, "N V"], Float[Array, "N V"]]:
        """What the dual program found, repaired to feasibility."""
        return feasible(self.dual, C, self.bias)

    def below(self, C: Any, eps: Any) -> Float[Array, ""]:
        """The value of the dual program at what it found, repaired to feasibility."""
        return lower_bound(*self.multipliers(C), self.gram, self.targets, eps)

    def layer(self, C: Any) -> Attention:
        """The layer with the values of the dual program, repaired to feasibility, and the bias of the primal one."""
        alpha, alphat = self.multipliers(C)
        return Attention(self.kernel, self.keys, (alpha - alphat) / self.h[:, None], self.primal.b)

    def reach(self, C: Any, eps: Any) -> Float[Array, "n 1"]:
        r"""$2 g\,|\phi(q)|^2/h(q)^2$, g the gap: a bound of the squared difference of `regression` and `layer`."""
        rows = self.regression.rows(self.queries)
        return 2 * (self.above(C, eps) - self.below(C, eps)) * (rows**2).sum(1, keepdims=True)


def fit(kernel: Kernel, keys: Array, queries: Array, targets: Array, C: Any, eps: Any, bias: Any = True) -> Fitted:
    """Both programs solved for these targets; ``bias``: whether b is a variable."""
    free = bool(bias)
    if isinstance(kernel, Features):
        root, rows = None, Regression(kernel, keys, jnp.zeros(()), jnp.zeros(())).rows(keys)
    else:
        K = kernel.kernel(keys, keys)
        h = K.sum(1)
        root = rows = cholesky(K / (h[:, None] * h[None, :]))
    primal, dual = solve_primal(rows, targets, C, eps, free), solve_dual(rows, targets, C, eps, free)
    return Fitted(kernel, keys, queries, targets, primal, dual, root, free)
