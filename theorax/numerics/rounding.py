r"""Rounding of sums in the standard model: how far a computed norm or product can be from the exact one.

$\mathrm{fl}(x \circ y) = (x \circ y)(1 + \delta)$, $|\delta| \le u$; a sum of $n$ products in *any* order is off by at
most $\gamma_n = nu/(1 - nu)$ times the sum of the moduli. Sums in nested blocks of about $\sqrt n$ terms replace $n$ by
about $2\sqrt n$, whatever order the compiler chooses inside a block. Underflow is not covered.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import DTypeLike
from jaxtyping import Array, Float


def gamma(terms: int, dtype: DTypeLike) -> float:
    r"""$\gamma_n = nu/(1 - nu)$, the relative error of a sum of $n$ products; infinite once $nu \ge 1$.

    **Source:** Higham 2002, lemma 3.1.
    """
    unit = float(jnp.finfo(dtype).eps) / 2
    return terms * unit / (1 - terms * unit) if terms * unit < 1 else math.inf


def _block(size: int) -> int:
    """The power of two next to the root of the size."""
    return 2 ** round(math.log2(max(size, 1)) / 2)


def blocked_terms(size: int) -> int:
    """Roundings that one term of a blocked sum of ``size`` products goes through."""
    return _block(size) + math.ceil(size / _block(size))


def _in_blocks(x: Array, axis: int) -> Array:
    """The axis split into (blocks, block), filled up with zeros where it does not divide."""
    size = x.shape[axis]
    block = _block(size)
    missing = -size % block
    if missing:
        x = jnp.pad(x, [(0, missing if a == axis else 0) for a in range(x.ndim)])
    return x.reshape(*x.shape[:axis], -1, block, *x.shape[axis + 1 :])


def blocked_sum(x: Float[Array, " n"]) -> Float[Array, ""]:
    r"""The sum of a vector in two nested stages.

    **Errors:** at most $\gamma_m \sum_i |x_i|$ with $m$ = ``blocked_terms(n)``.
    """
    # Without the barrier the compiler merges the two stages into one sum of n terms.
    return jnp.sum(lax.optimization_barrier(jnp.sum(_in_blocks(x, 0), axis=1)))


def blocked_norm(x: Float[Array, " n"]) -> Float[Array, ""]:
    r"""The Euclidean norm of a vector.

    **Errors:** relative, at most $\gamma_{m+2}$ with $m$ = ``blocked_terms(n)``: $m$ for the positive sum of squares,
    halved by the root, and the root's own.
    """
    return jnp.sqrt(blocked_sum(x * x))


def blocked_products(A: Float[Array, "rows columns"], vectors: Float[Array, "k columns"]) -> Float[Array, "k rows"]:
    r"""The products $A v$ for a few vectors, summed in two nested stages.

    **Errors:** each is off by at most $\gamma_m \||A||v|\| \le \gamma_m \|A\|_F \|v\|$ in the Euclidean norm, with $m$
    = ``blocked_terms(columns)``.
    """
    parts = _in_blocks(A, 1)
    cut = _in_blocks(vectors, 1)

    def one(v: Array) -> Array:
        return jnp.sum(lax.optimization_barrier(jnp.sum(parts * v, axis=2)), axis=1)

    return jax.vmap(one)(cut)


def blocked_transposed_products(
    A: Float[Array, "rows columns"], vectors: Float[Array, "k rows"]
) -> Float[Array, "k columns"]:
    r"""The products $A^T u$ for a few vectors, summed in two nested stages over the rows, without transposing $A$.

    **Errors:** as in ``blocked_products``, with $m$ = ``blocked_terms(rows)``.
    """
    parts = _in_blocks(A, 0)
    cut = _in_blocks(vectors, 1)
    sums = lax.dot_general(cut, parts, (((2,), (1,)), ((1,), (0,))), precision=lax.Precision.HIGHEST)
    return jnp.sum(lax.optimization_barrier(sums), axis=0)


def frobenius_norm(A: Float[Array, "rows columns"]) -> Float[Array, ""]:
    r"""The Frobenius norm, rounded up: never below the exact one.

    **Errors:** the nested sum of squares has relative error at most $\gamma_{r+c}$ for $r$ rows and $c$ columns; the
    computed root is multiplied by $1 + \gamma_{r+c+4}$.
    """
    rows, columns = A.shape
    total = jnp.sum(lax.optimization_barrier(jnp.sum(A * A, axis=1)))
    return jnp.sqrt(total) * (1 + gamma(rows + columns + 4, A.dtype))


GRAM_ROWS = 256
"""Rows that one product contributes to a Gram matrix at a time."""


def blocked_gram(A: Float[Array, "rows columns"]) -> Float[Array, "columns columns"]:
    r"""$A^T A$, summed over groups of ``GRAM_ROWS`` rows.

    **Errors:** at most $\gamma_g \|A\|_F^2$ in the Frobenius norm, $g$ = ``GRAM_ROWS + ceil(rows / GRAM_ROWS)``.
    """
    rows, columns = A.shape
    total = jnp.zeros((columns, columns), A.dtype)
    for start in range(0, rows, GRAM_ROWS):
        part = A[start : start + GRAM_ROWS]
        # The barrier keeps the compiler from joining the groups.
        total = lax.optimization_barrier(total + jnp.matmul(part.T, part, precision=lax.Precision.HIGHEST))
    return total
