"""Functionals of a singular spectrum: the whole spectrum, its stable rank, and power sums of its tail.

The leading triplets live in ``_lanczos``, the number of values above a threshold in ``_inertia``.
"""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from theorax.numerics.rounding import (
    GRAM_ROWS,
    blocked_gram,
    blocked_sum,
    blocked_terms,
    frobenius_norm,
    gamma,
)
from theorax.theorems.mind_the_gap._inertia import InertiaAudit, audit_index, inertia_audit
from theorax.theorems.mind_the_gap._lanczos import SingularTriplets, leading_singular_triplets

__all__ = [
    "InertiaAudit",
    "SingularTriplets",
    "TailPower",
    "audit_index",
    "enclosed_singular_values",
    "excess_of_stable_rank",
    "frobenius_tail",
    "inertia_audit",
    "leading_singular_triplets",
    "singular_values",
    "stable_rank",
    "tail_power",
    "top_and_tail",
]


def singular_values(A: Float[Array, "rows columns"]) -> Float[Array, " k"]:
    r"""All singular values of $A$, descending; a matrix padded with zeros gains zeros at the end.

    **Errors:** each value is off by a modest multiple of $u\,\sigma_1$, not of itself; how much it is, is measured by
    ``enclosed_singular_values``.

    **Source:** Golub and Van Loan 2013, section 8.6.
    """
    return jnp.linalg.svd(A, compute_uv=False)


def enclosed_singular_values(A: Float[Array, "rows columns"]) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
    r"""All singular values of $A$, descending, and how far each may be off, measured on the decomposition itself.

    **Errors:** let $U$, $s$, $V$ be what the solver returns, however good that is, $R = A - U S V^T$,
    $\epsilon_U = \|U^T U - I\|_F$ and $\epsilon_V$ likewise. The squared singular values of $U$ lie within $\epsilon_U$ of
    one, so those of $U S V^T$ between $s_i \sqrt{(1 - \epsilon_U)(1 - \epsilon_V)}$ and
    $s_i \sqrt{(1 + \epsilon_U)(1 + \epsilon_V)}$, and by Weyl
    $|\sigma_i(A) - s_i| \le \|R\|_F + (\epsilon_U + \epsilon_V) s_i$ if both are below one. Rounding, for k values: R is
    off by at most $\gamma_{k+2}(2 \sum_i s_i + \|A\|_F)$, columns being no longer than $\sqrt2$, and a Gram matrix of m
    rows by $\gamma_{m+1} 2k$. Infinite where a defect reaches one.

    **Source:** Horn and Johnson 1991, theorem 3.3.16 for the products; Weyl 1912.
    """
    with jax.default_matmul_precision("highest"):
        U, s, Vt = jnp.linalg.svd(A, full_matrices=False)
        k = s.shape[0]
        gram_U, gram_V = lax.optimization_barrier((U.T @ U, Vt @ Vt.T))
        left = frobenius_norm(A - (U * s) @ Vt) + gamma(k + 2, A.dtype) * (2 * jnp.sum(s) + frobenius_norm(A))
    defects = [
        frobenius_norm(gram - jnp.eye(k, dtype=A.dtype)) + gamma(rows + 1, A.dtype) * 2 * k
        for gram, rows in zip((gram_U, gram_V), A.shape, strict=True)
    ]
    small = (defects[0] < 1) & (defects[1] < 1)
    error = (left + sum(defects) * s) * (1 + 64 * jnp.finfo(A.dtype).eps)
    return s, jnp.where(small, error, jnp.inf)


def stable_rank(s: Float[Array, " k"]) -> Float[Array, ""]:
    r"""Stable rank $\sum_i s_i^2 / s_1^2$ of a matrix with these singular values, descending.

    **Errors:** a relative error $\epsilon$ in every value moves it by at most about $4\epsilon$ of itself. Near one,
    take ``excess_of_stable_rank(s, power=2)``: the difference with one cancels.

    **Source:** Rudelson and Vershynin 2007, section 1.
    """
    return 1 + excess_of_stable_rank(s, power=2)


def excess_of_stable_rank(s: Float[Array, " k"], power: int = 4) -> Float[Array, ""]:
    r"""Excess of the stable rank above one: $\sum_{i\ge2} (s_i/s_1)^p$; with $p = 4$ that of the Gram matrix $AA^T$.

    **Errors:** a relative error $\epsilon$ in every value moves it by at most about $2p\epsilon$ of itself. The zero
    matrix has no stable rank: not a number.

    **Source:** Rudelson and Vershynin 2007, section 1.
    """
    return jnp.sum((s[1:] / s[0]) ** power)


def frobenius_tail(s: Float[Array, " k"]) -> Float[Array, ""]:
    r"""$(\sum_{i\ge2} s_i^2)^{1/2}$, the Frobenius distance from the nearest matrix of rank one.

    **Errors:** a relative error $\epsilon$ in every value moves it by at most $\epsilon$ of itself.

    **Source:** Eckart and Young 1936.
    """
    # Scaled, so that no square underflows before the largest one does.
    top = jnp.max(s[1:], initial=0)
    return top * jnp.sqrt(jnp.sum((s[1:] / jnp.where(top > 0, top, 1)) ** 2))


class TailPower(eqx.Module):
    """A power sum of the singular values after the first, and a bound of its error."""

    value: Float[Array, ""]
    error: Float[Array, ""]


def tail_power(A: Float[Array, "rows columns"], triplet: SingularTriplets, power: int = 4) -> TailPower:
    r"""$\sum_{i\ge2} \sigma_i(A)^p$ for $p$ = 2 or 4 without a decomposition: $\|A'\|_F^2$ or $\|A'^T A'\|_F^2$.

    $A' = A - s u v^T$ with the first of the triplets; never a difference of large numbers.

    **Errors:** with $R_1 = Av - su$, $R_2 = A^T u - sv$ the matrix
    $E = -R_1 v^T - u R_2^T + (u^T R_1) u v^T$ makes $(s, u, v)$ an exact triplet of $A + E$, and
    $\|E\|_F^2 \le \|R_1\|^2 + \|R_2\|^2 = 2\rho^2$, $\rho$ the triplet's residual. If $s$ is the *first* value (which
    ``audit_index`` decides), the tail of $A$ differs from that of $A + E$ by at most $\sqrt2\rho$ in the Schatten norm
    (Mirsky), and so does the latter from $A'$: the Schatten norms $x$ of the tail and $y$ of $A'$ satisfy
    $|x - y| \le \delta = 2\sqrt2\rho + \gamma_{m+8}(\|A\|_F + 4s)$, the second term for forming $A'$ with vectors that
    are unit within $\gamma_{m+2}$. Hence $|x^p - y^p| \le (y + \delta)^p - y^p$. The Gram matrix adds at most
    $\gamma_g\|A'\|_F^2$ to $y^2$ (``blocked_gram``), the sum of squares a relative $\gamma_{2m+2}$.

    **Raises:** ``ValueError`` for another power.

    **Source:** Mirsky 1960, theorem 5; Kahan et al. 1982 for $E$.
    """
    if power not in (2, 4):
        raise ValueError(
            f"tail_power(power={power}) needs a decomposition, and has no formula here. "
            "Write power=2 or power=4, or take sums over singular_values(A)[1:]."
        )
    s, u, v = triplet.values[0], triplet.left[0], triplet.right[0]
    terms = blocked_terms(max(A.shape))
    deflated = lax.optimization_barrier(A - s * u[:, None] * v[None, :])
    delta = 2 * math.sqrt(2) * triplet.residuals[0] + gamma(terms + 8, A.dtype) * (frobenius_norm(A) + 4 * s)
    # In the units of power 2: what is summed, its distance from the exact one, and y.
    if power == 2:
        value, off = _sum_of_squares(deflated), jnp.zeros((), A.dtype)
    else:
        with jax.default_matmul_precision("highest"):
            value = _sum_of_squares(blocked_gram(deflated))
        groups = GRAM_ROWS + math.ceil(A.shape[0] / GRAM_ROWS)
        off = gamma(groups, A.dtype) * frobenius_norm(deflated) ** 2
    relative = gamma(2 * blocked_terms(max(A.shape)) + 4, A.dtype)
    root = jnp.sqrt(value) * (1 + relative)
    y = root if power == 2 else jnp.sqrt(root + off)
    moved = delta * (2 * y + delta)
    if power == 4:
        moved = moved * (2 * y * y + moved)
    error = (moved + relative * value + off * (2 * root + off)) * (1 + 64 * jnp.finfo(A.dtype).eps)
    return TailPower(value, error)


def top_and_tail(A: Float[Array, "rows columns"]) -> tuple[Array, Array, Array, Array]:
    r"""$\sigma_1(A)$ and $\sum_{i\ge2} \sigma_i(A)^4$ without a decomposition, each with a bound of its error after it.

    **Errors:** those of ``leading_singular_triplets`` and of ``tail_power``, which hold if the value found is the first.
    """
    leading = leading_singular_triplets(A, k=1)
    rest = tail_power(A, leading)
    return leading.values[0], leading.residuals[0], rest.value, rest.error


def _sum_of_squares(x: Array) -> Array:
    """The sum of all squares, of relative error at most gamma of twice the blocked terms."""
    return blocked_sum(lax.optimization_barrier(jax.vmap(blocked_sum)(x * x)))
