r"""Number of singular values above a threshold, decided by the inertia of a shifted Gram matrix.

A residual says that *some* singular value is near; the inertia says how many lie above. Take m approximate triplets
away, $A' = A - \sum_{i\le m} s_i u_i v_i^T$: whatever their quality, $\sigma_{m+1}(A) \le \sigma_1(A')$, because the
difference has rank m. And $\sigma_1(A') < \nu$ holds exactly if $\nu^2 I - A' A'^T$ is positive definite, which a
Cholesky factorisation decides. It costs a few times the triplets themselves: audit about one draw in twenty.
"""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from theorax.numerics.annotations import Scalar
from theorax.numerics.rounding import GRAM_ROWS, blocked_gram, frobenius_norm, gamma
from theorax.theorems.mind_the_gap._lanczos import SingularTriplets, restated


class InertiaAudit(eqx.Module):
    """``certified``: exactly ``count`` singular values exceed the number asked about. Otherwise nothing is known."""

    count: Int[Array, ""]
    certified: Bool[Array, ""]


def inertia_audit(
    A: Float[Array, "rows columns"], mu: Scalar, triplets: SingularTriplets | None = None
) -> InertiaAudit:
    r"""The number of singular values of $A$ greater than ``mu``, as far as the triplets explain them.

    ``count`` is the number of triplets with a value above ``mu``. It is certified if the matrix without them has no
    singular value above ``mu`` (none but these exceed it), and if they are orthonormal and accurate enough that all of
    them do. Without triplets the question is whether no singular value exceeds ``mu``.

    **Errors:** computed in the widest precision JAX is set to; both halves carry the slack derived in ``_none_above``
    and ``_at_least``, on the safe side, so a value within the slack of ``mu`` leaves the count uncertified.
    """
    wide = A.astype(jnp.promote_types(A.dtype, jnp.result_type(float)))
    mu = jnp.asarray(mu, wide.dtype)
    with jax.default_matmul_precision("highest"):
        if triplets is None:
            nothing = jnp.zeros((1,), wide.dtype)
            sides = (jnp.zeros((1, n), wide.dtype) for n in A.shape)
            return InertiaAudit(jnp.int32(0), _none_above(*_deflated(wide, nothing, *sides), mu))
        known = restated(wide, triplets)
        chosen = known.values > mu
        upper = _none_above(*_deflated(wide, jnp.where(chosen, known.values, 0), known.left, known.right), mu)
        lower = ~jnp.any(chosen) | (_at_least(known, chosen) > mu)
        return InertiaAudit(jnp.sum(chosen, dtype=jnp.int32), upper & lower)


def audit_index(
    A: Float[Array, "rows columns"], triplets: SingularTriplets, index: int, resolution: float = 1e-5
) -> Bool[Array, ""]:
    r"""True if ``triplets.values[index]`` is certainly the singular value of that index (0 is the largest).

    With $i$ = ``index`` + 1, $s$ the value and $\epsilon = \sqrt2\,(\sum_{l\le i}\rho_l^2)^{1/2}$ from the residuals as
    stated, true means

    $$s - w \le \sigma_i(A) \le s + w, \qquad w = 2\epsilon + \texttt{resolution}\cdot s.$$

    The residuals are not believed: the test itself uses an $\epsilon$ computed afresh, and fails if that needs more
    room. The upper half takes the triplets before it away and asks for no singular value above
    $\mu = \eta + \sqrt{(s+\epsilon)^2 + 2c}$, with the rounding terms $\eta$, $c$ of ``_none_above``; twice $c$, since
    a matrix with all values below $s + \epsilon$ must survive the rounding it is tested with. If $\mu > s + w$ the
    precision cannot decide, and the answer is false. The lower half is ``_at_least``.

    **Errors:** none in the direction of true. A second value given as the first, or a third as the second, is false
    unless it lies within $w$ of the right one. In float32 alone the rounding exceeds the gaps from a size of about 100
    on; where JAX is set to 64 bits, float32 matrices are audited in float64.

    **Raises:** ``ValueError`` if there is no triplet of that index.
    """
    k = triplets.values.shape[0]
    if not 0 <= index < k:
        raise ValueError(
            f"audit_index(index={index}) with {k} triplets. There is no such triplet. Write 0 <= index < {k}."
        )
    wide = A.astype(jnp.promote_types(A.dtype, jnp.result_type(float)))
    with jax.default_matmul_precision("highest"):
        known = restated(wide, triplets)
        s = known.values[index]
        before = jnp.arange(k) < index
        upto = jnp.arange(k) <= index
        margin, stated = (
            math.sqrt(2) * jnp.sqrt(jnp.sum(jnp.where(upto, part.residuals, 0).astype(wide.dtype) ** 2))
            for part in (known, triplets)
        )
        width = 2 * stated + resolution * s
        deflated, eta = _deflated(wide, jnp.where(before, known.values, 0), known.left, known.right)
        # c grows with the shift: taken at twice (s + margin)^2, which mu^2 stays below wherever the width allows it.
        c = _slack(deflated, 2 * (s + margin) ** 2)
        mu = eta + jnp.sqrt((s + margin) ** 2 + 2 * c)
        decidable = (mu <= s + width) & ((mu - eta) ** 2 <= 2 * (s + margin) ** 2)
        return decidable & _none_above(deflated, eta, mu) & (_at_least(known, upto) >= s - width)


def _deflated(A: Array, weights: Array, left: Array, right: Array) -> tuple[Array, Array]:
    r"""$A - \sum_l s_l u_l v_l^T$ and a bound of its rounding in the Frobenius norm.

    Entry by entry at most k + 1 sums and two products per term, each within one unit of the moduli met on the way,
    whose Frobenius norms are at most $\|A\|_F + \sum_l s_l$: $\eta = \gamma_{4k+4} (\|A\|_F + 2\sum_l s_l)$ for vectors
    that are unit up to rounding.
    """
    rest = A - (left * weights[:, None]).T @ right
    eta = gamma(4 * weights.shape[0] + 4, A.dtype) * (frobenius_norm(A) + 2 * jnp.sum(weights))
    return rest, eta


def _slack(rest: Array, square: Array) -> Array:
    r"""Bound of the effect of rounding on the decision about $\nu^2 I - A'A'^T$, $\nu^2$ = ``square``.

    $$c = \gamma_g \|A'\|_F^2 + 2u(\nu^2 + \|A'\|_F^2) + \gamma_{2n+4}\, n\nu^2:$$

    the Gram matrix ($g$ nested terms), the subtraction, and the factorisation, whose backward error is at most
    $\gamma_{n+1}/(1-\gamma_{n+1})$ times the trace of the factorised matrix, itself at most $n\nu^2$ (Higham 2002,
    theorem 10.3, with $\||R^T||R|\|_2 \le \|R\|_F^2$; Rump 2006).
    """
    rows, columns = rest.shape
    square_norm = frobenius_norm(rest) ** 2 * (1 + gamma(2, rest.dtype))
    unit = float(jnp.finfo(rest.dtype).eps) / 2
    terms = GRAM_ROWS + math.ceil(columns / GRAM_ROWS)
    factor = gamma(2 * rows + 4, rest.dtype) * rows * square
    return (gamma(terms, rest.dtype) * square_norm + 2 * unit * (square + square_norm) + factor) * (1 + 16 * unit)


def _none_above(rest: Array, eta: Array, mu: Array) -> Array:
    r"""True only if the matrix that ``rest`` stands for, known up to ``eta``, has no singular value above ``mu``.

    With $\nu = \mu - \eta$ the factorised matrix is $(\nu^2 - c) I - A'A'^T$: if that survives the rounding bounded by
    $c$ (see ``_slack``), the exact $\nu^2 I - A'A'^T$ is positive semi-definite.
    """
    nu = mu - eta
    shift = nu * nu - _slack(rest, nu * nu)
    shifted = shift * jnp.eye(rest.shape[0], dtype=rest.dtype) - blocked_gram(rest.T)
    factor = jnp.linalg.cholesky(shifted, symmetrize_input=False)
    return (nu > 0) & jnp.all(jnp.isfinite(jnp.diagonal(factor)))


def _at_least(known: SingularTriplets, chosen: Array) -> Array:
    r"""A lower bound of the m-th singular value from m chosen triplets.

    With $AV = US + R$, $\sigma_m(A) \ge \min_x \|AVx\| / \|Vx\| \ge (\sqrt{1-d_u}\, \min s - \|R\|_F) / \sqrt{1+d_v}$,
    $d$ the Frobenius distance of a Gram matrix from the identity (with its rounding), and
    $\|R\|_F^2 \le 2\sum\rho_l^2$.
    """

    def distance(vectors: Array) -> Array:
        kept = jnp.where(chosen[:, None], vectors, 0)
        gram = kept @ kept.T - jnp.diag(jnp.where(chosen, 1, 0).astype(vectors.dtype))
        k, n = vectors.shape
        return jnp.sqrt(jnp.sum(gram**2)) + k * gamma(n + 4, vectors.dtype)

    smallest = jnp.min(jnp.where(chosen, known.values, jnp.inf))
    remainder = math.sqrt(2) * jnp.sqrt(jnp.sum(jnp.where(chosen, known.residuals, 0) ** 2))
    du, dv = distance(known.left), distance(known.right)
    bound = (jnp.sqrt(jnp.maximum(1 - du, 0)) * smallest - remainder) / jnp.sqrt(1 + dv)
    return bound * (1 - 16 * jnp.finfo(known.values.dtype).eps)
