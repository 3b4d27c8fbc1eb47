"""Leading singular triplets of one matrix, each with a residual that certifies a singular value near it.

Golub-Kahan-Lanczos bidiagonalisation: from a left vector u_1 it builds orthonormal bases U, V with

    A V_j = U_j L_j + beta_{j+1} u_{j+1} e_j^T,      A^T U_j = V_j L_j^T,

L_j lower bidiagonal with alpha on the diagonal and beta below it. The singular values of the small L_j approach the
extreme ones of A from below, after a number of steps of order T^(1/3) when the second value sits at a soft spectral
edge. Every step reads A once: a block of rows serves A v and A^T(A v) while it is in the cache.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Float, Int

from theorax.names import many
from theorax.numerics.rounding import (
    blocked_norm,
    blocked_products,
    blocked_terms,
    blocked_transposed_products,
    frobenius_norm,
    gamma,
)

# A matrix smaller than this stays in the cache between two products: nothing is won by reading it once.
_CACHE_BYTES = 2**21
# The row block that is used twice while it is in the second-level cache; 256 KiB to 1 MiB measure alike.
_BLOCK_BYTES = 2**19
# Rows of a basis that are orthogonalised against together.
_CHUNK = 32


class SingularTriplets(eqx.Module):
    r"""Approximate singular triplets $(s_i, u_i, v_i)$, values descending.

    ``residuals[i]`` bounds $\rho_i = \sqrt{(\|A v - s u\|^2 + \|A^T u - s v\|^2)/2}$ from above, rounding included:
    some singular value of $A$ lies within ``residuals[i]`` of ``values[i]``. *Which* one it is, only
    ``_inertia.audit_index`` says. ``passes`` counts products of a vector with $A$ or $A^T$.
    """

    values: Float[Array, " k"]
    left: Float[Array, "k rows"]
    right: Float[Array, "k columns"]
    residuals: Float[Array, " k"]
    passes: Int[Array, ""]
    converged: Bool[Array, ""]


class _State(NamedTuple):
    """The loop's memory: bases, the bidiagonal, and what the last look at the small problem said."""

    step: Array
    left: Array
    right: Array
    alpha: Array
    beta: Array
    transposed: Array  # A^T u of the newest left vector
    rotation_left: Array
    rotation_right: Array
    next_look: Array
    last_look: Array
    last_excess: Array
    done: Array


def default_steps(size: int, k: int = 2) -> int:
    """Steps that the bases have room for: twice the usual 3.7 size^(1/3), and never more than the dimension allows."""
    return min(size, max(32 + 8 * k, math.ceil(7.5 * size ** (1 / 3))))


def leading_singular_triplets(
    A: Float[Array, "rows columns"], k: int = 2, tolerance: float = 1e-6, max_steps: int | None = None
) -> SingularTriplets:
    r"""The ``k`` largest singular values of $A$ with their vectors and verified residuals.

    Golub-Kahan-Lanczos with full reorthogonalisation, started at $A(\mathbf 1 + g)$ for a fixed pseudo-Gaussian $g$;
    the product with $A$ removes whatever lies on zero rows, so a matrix padded with zeros gives the same triplets as
    the matrix itself. It stops when $\min(r_i, r_i^2/\mathrm{gap}_i) \le$ ``tolerance`` $\cdot\, s_i$ for all wanted
    values, with $r_i = \beta_{j+1} |q_{ij}|/\sqrt2$ and the gap between Ritz values. An exhausted basis is reported by
    ``converged``, and the residuals are then large but still true. If the Krylov space closes early (rank one,
    identity) it continues with a fresh vector. $A$ needs at least ``k`` non-zero rows and columns; a triplet that does
    not exist has an infinite residual.

    **Errors:** $u = Av/\|Av\|$ and $s = \|Av\|$ are recomputed from $A$ at the end, then the residuals. For unit
    vectors the pair $(u, v)/\sqrt2$ is an approximate eigenvector of the symmetric $H = [[0, A], [A^T, 0]]$ with
    residual $\rho$, hence an eigenvalue $\pm\sigma$ of $H$ lies within $\rho$ of $s \ge 0$, and $+\sigma$ is the nearer
    one. In exact arithmetic $s$ is of second order, about $\rho^2/\mathrm{gap}$. Rounding: products are summed in $m$
    nested terms (``blocked_terms``), so a computed $Av$ is off by at most $\gamma_m \|A\|_F \|v\|$, the subtraction of
    $su$ adds two roundings of either side, and unit norms hold within $\gamma_{m+2}$, together at most
    $\gamma_{m+8} (\|A\|_F + 4 s)$, which is part of the stated residual. Underflow is not covered.

    **Raises:** ``ValueError`` if ``k`` exceeds a dimension of $A$, or ``max_steps`` leaves no room for ``k`` values.

    **Source:** Golub and Kahan 1965, section 3; Parlett 1980, theorem 4.5.1 for the residual.
    """
    rows, columns = A.shape
    room = default_steps(min(rows, columns), k) if max_steps is None else min(max_steps, rows, columns)
    if not 1 <= k <= room:
        raise ValueError(
            f"leading_singular_triplets(k={k}) on a {rows} x {columns} matrix with {many(room, 'step')}. "
            f"A space of {room} dimensions holds no {k} triplets. Write 1 <= k <= {room}, or a larger max_steps."
        )
    scale = frobenius_norm(A)
    # A residual below the rounding of one product cannot be told from zero.
    noise = 8 * jnp.finfo(A.dtype).eps * scale
    # Accelerators would otherwise round the factors of a product to fewer bits than their dtype has.
    with jax.default_matmul_precision("highest"):
        state = _bidiagonalise(A, k, tolerance, room, noise)
        triplets = _verified(A, state, scale, noise)
    passes = 2 + 2 * state.step + 2 * k
    order = jnp.argsort(-triplets[0])
    values, left, right, residuals = (part[order] for part in triplets)
    return SingularTriplets(values, left, right, residuals, passes, state.done & jnp.all(jnp.isfinite(residuals)))


def _bidiagonalise(A: Array, k: int, tolerance: float, room: int, noise: Array) -> _State:
    """Lanczos steps until the small problem's residuals meet the tolerance or the bases are full."""
    rows, columns = A.shape
    dtype = A.dtype
    padded = _CHUNK * math.ceil((room + 1) / _CHUNK)

    start = A @ (jnp.ones(columns, dtype) + pseudo_gaussian(columns, 0, dtype))
    row_mask = _support(start)
    # Normed twice: the first division brings every scale to one.
    first = _unit(_unit(start))
    first = jnp.where(jnp.any(start != 0), first, _unit(pseudo_gaussian(rows, 1, dtype)))
    transposed = first @ A
    column_mask = _support(transposed)

    def step(carried: tuple[_State, Array]) -> tuple[_State, Array]:
        state, _ = carried
        i = state.step
        # What fused products left of older directions in A^T u lies in the span of the right basis: it goes here too.
        v = _orthogonal(state.transposed, state.right, i)
        v, alpha = _normed_or_fresh(v, noise, state.right, i, column_mask, 2 * i + 2)
        right = state.right.at[i].set(v)
        w, t = _both_products(A, v, alpha * state.left[i])
        w = _orthogonal(w, state.left, i + 1)
        u, beta = _normed_or_fresh(w, noise, state.left, i + 1, row_mask, 2 * i + 3)
        t = lax.cond(beta > 0, lambda: t / jnp.where(beta > 0, beta, 1), lambda: u @ A)
        look = (i + 1 >= state.next_look) | (i + 1 == room) | ((beta == 0) & (i + 1 >= k))
        state = state._replace(
            step=i + 1,
            left=state.left.at[i + 1].set(u),
            right=right,
            alpha=state.alpha.at[i].set(alpha),
            beta=state.beta.at[i].set(beta),
            transposed=t,
        )
        return state, look

    def to_next_look(state: _State) -> _State:
        # A loop of its own: matrices that are followed together look when all have come to their next look. With a choice
        # in every step, the small problem would be solved in every step for all of them.
        state, _ = lax.while_loop(lambda carried: ~carried[1], step, (state, jnp.bool_(False)))
        return _look(state, k, tolerance, noise)

    def running(state: _State) -> Array:
        return ~state.done & (state.step < room)

    index = jnp.int32
    return lax.while_loop(
        running,
        to_next_look,
        _State(
            step=index(0),
            left=jnp.zeros((padded, rows), dtype).at[0].set(first),
            right=jnp.zeros((padded, columns), dtype),
            alpha=jnp.zeros(room, dtype),
            beta=jnp.zeros(room, dtype),
            transposed=transposed,
            rotation_left=jnp.zeros((k, room), dtype),
            rotation_right=jnp.zeros((k, room), dtype),
            next_look=index(max(k + 1, math.ceil(2 * min(rows, columns) ** (1 / 3)))),
            last_look=index(0),
            last_excess=jnp.zeros((), dtype),
            done=jnp.bool_(False),
        ),
    )


def _look(state: _State, k: int, tolerance: float, noise: Array) -> _State:
    """Solve the small bidiagonal problem, decide whether to stop, else predict when the next look is worth its cost."""
    room = state.alpha.shape[0]
    j = state.step
    meant = jnp.arange(room) < j
    below = jnp.where(meant[1:], state.beta[:-1], 0)
    bidiagonal = jnp.diag(jnp.where(meant, state.alpha, 0)) + jnp.diag(below, -1)
    # The small problem is never solved in half precision: there is no such routine.
    small = jnp.promote_types(bidiagonal.dtype, jnp.float32)
    P, s, Qt = jnp.linalg.svd(bidiagonal.astype(small))
    # A^T u - s v vanishes for the small problem's vectors, A v - s u does not: rho is its norm over the root of two.
    r = state.beta[j - 1].astype(small) * jnp.abs(Qt[:k, j - 1]) / math.sqrt(2)
    tiny = jnp.finfo(small).tiny
    distance = jnp.abs(s[:k, None] - s[None, : k + 1]) + jnp.where(jnp.eye(k, min(k + 1, room), dtype=bool), jnp.inf, 0)
    # With no neighbour to keep a distance from, the value's own size stands in for the gap.
    gap = jnp.maximum(jnp.minimum(jnp.min(distance, axis=1), s[0]) - r, tiny)
    wanted = tolerance * s[:k]
    met = (jnp.minimum(r, r * (r / gap)) <= wanted) | (r <= noise.astype(small))
    # log of r^2/gap over the tolerance falls by a constant per step once a value has been found.
    excess = 2 * jnp.log(r + tiny) - jnp.log(gap) - jnp.log(wanted + tiny)
    excess = jnp.max(jnp.where(met, 0, excess)).astype(state.last_excess.dtype)
    rate = (state.last_excess - excess) / (j - state.last_look)
    steps = jnp.where((state.last_look > 0) & (rate > 0), excess / jnp.maximum(rate, 1e-3), jnp.inf)
    steps = jnp.clip(jnp.ceil(steps), 2, jnp.maximum(2, j // 10)).astype(j.dtype)
    return state._replace(
        rotation_left=P[:, :k].T.astype(state.alpha.dtype),
        rotation_right=Qt[:k].astype(state.alpha.dtype),
        next_look=j + steps,
        last_look=j,
        last_excess=excess,
        done=jnp.all(met) & (j >= k),
    )


def _verified(A: Array, state: _State, scale: Array, noise: Array) -> tuple[Array, Array, Array, Array]:
    """Ritz vectors, their values recomputed from A, and the residual bounds derived in the public docstring."""
    room = state.alpha.shape[0]
    v = jax.vmap(_unit)(state.rotation_right @ state.right[:room])
    ritz = jax.vmap(_unit)(state.rotation_left @ state.left[:room])
    w = blocked_products(A, v)
    s = jax.vmap(blocked_norm)(w)
    u = jnp.where((s > noise)[:, None], jax.vmap(_unit)(w), ritz)
    t = blocked_transposed_products(A, u)
    return s, u, v, _bounds(w, t, s, u, v, scale)


def _bounds(w: Array, t: Array, s: Array, u: Array, v: Array, scale: Array) -> Array:
    """The residual bounds from the computed w = A v and t = A^T u; infinite where a vector is missing."""
    norm = jax.vmap(blocked_norm)
    rho = jnp.hypot(norm(w - s[:, None] * u), norm(t - s[:, None] * v)) / math.sqrt(2)
    grain = gamma(blocked_terms(max(u.shape[1], v.shape[1])) + 8, u.dtype)
    exists = jnp.any(u != 0, axis=1) & jnp.any(v != 0, axis=1)
    return jnp.where(exists, rho * (1 + grain) + grain * (scale + 4 * s), jnp.inf)


def restated(A: Float[Array, "rows columns"], triplets: SingularTriplets) -> SingularTriplets:
    """The same triplets with vectors normed and residuals recomputed in the precision of ``A``.

    **Errors:** as in ``leading_singular_triplets``; nothing is taken over from the residuals that were given.
    """
    s = triplets.values.astype(A.dtype)
    u, v = (jax.vmap(_unit)(part.astype(A.dtype)) for part in (triplets.left, triplets.right))
    bounds = _bounds(blocked_products(A, v), blocked_transposed_products(A, u), s, u, v, frobenius_norm(A))
    return SingularTriplets(s, u, v, bounds, triplets.passes + 2 * s.shape[0], triplets.converged)


def _both_products(A: Array, v: Array, shift: Array) -> tuple[Array, Array]:
    """w = A v - shift and A^T w; a large A is read once, in row blocks that serve both products."""
    rows, columns = A.shape
    block = min(rows, max(8, _BLOCK_BYTES // (columns * A.dtype.itemsize)))
    if A.size * A.dtype.itemsize <= _CACHE_BYTES:
        w = A @ v - shift
        return w, w @ A

    def one(start: Array | int, size: int, w: Array, t: Array) -> tuple[Array, Array]:
        part = lax.dynamic_slice_in_dim(A, start, size)
        mine = part @ v - lax.dynamic_slice_in_dim(shift, start, size)
        return lax.dynamic_update_slice_in_dim(w, mine, start, 0), t + mine @ part

    whole, rest = divmod(rows, block)
    w, t = lax.fori_loop(
        0, whole, lambda i, wt: one(i * block, block, *wt), (jnp.zeros(rows, A.dtype), jnp.zeros(columns, A.dtype))
    )
    return one(whole * block, rest, w, t) if rest else (w, t)


def _orthogonal(w: Array, basis: Array, count: Array) -> Array:
    """The part of w orthogonal to the first ``count`` rows of the basis, chunk by chunk (later rows are zero)."""

    def one(i: Array, w: Array) -> Array:
        chunk = lax.dynamic_slice_in_dim(basis, i * _CHUNK, _CHUNK)
        return w - (chunk @ w) @ chunk

    return lax.fori_loop(0, (count + _CHUNK - 1) // _CHUNK, one, w)


def _normed_or_fresh(
    w: Array, noise: Array, basis: Array, count: Array, mask: Array, salt: Array
) -> tuple[Array, Array]:
    """w as a unit vector and its norm; when only noise is left, a fresh orthogonal vector and the norm zero.

    Where the space itself is used up there is no such vector, and the zero vector takes its place.
    """
    norm = blocked_norm(w)

    def fresh() -> Array:
        g = _unit(jnp.where(mask, pseudo_gaussian(w.shape[0], salt, w.dtype), 0))
        g = _orthogonal(_orthogonal(g, basis, count), basis, count)
        # Of d dimensions with d - count left, a random unit vector keeps at least about d**-0.5.
        return jnp.where(blocked_norm(g) > math.sqrt(jnp.finfo(w.dtype).eps), _unit(g), 0)

    kept = norm > noise
    vector = lax.cond(kept, lambda: w / jnp.where(kept, norm, 1), fresh)
    return vector, jnp.where(kept, norm, 0)


def _unit(x: Array) -> Array:
    norm = blocked_norm(x)
    return x / jnp.where(norm > 0, norm, 1)


def _support(x: Array) -> Array:
    """Mask of the entries of x that are not zero; of all entries if x is zero."""
    return (x != 0) | ~jnp.any(x != 0)


def pseudo_gaussian(size: int, salt: int | Array, dtype: DTypeLike) -> Float[Array, " size"]:
    """Fixed numbers that look like independent normals; entry i depends on i and the salt, not on the size."""
    x = jnp.arange(size, dtype=jnp.uint32) + jnp.uint32(0x9E3779B9) * (jnp.asarray(salt).astype(jnp.uint32) + 1)
    # Two rounds of multiply and shift, each a bijection of the 32-bit words.
    for multiplier, shift in ((0x7FEB352D, 15), (0x846CA68B, 16)):
        x = (x ^ (x >> 16)) * jnp.uint32(multiplier)
        x = x ^ (x >> shift)
    uniform = ((x >> 9).astype(jnp.float32) + 0.5) / 2**23
    return (math.sqrt(2) * lax.erf_inv(2 * uniform - 1)).astype(dtype)
