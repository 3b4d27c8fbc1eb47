r"""Random matrices: rows of positive weights, Haar frames, Gaussian blocks and their Bartlett factors.

Every sampler works under padding: sizes are `Extent`s, the meant block is the leading one and the rest is zero. The
padding is part of the random stream: another padding gives other draws of the same law.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray

from theorax.errors import UsageError
from theorax.numerics.annotations import Scalar
from theorax.numerics.distributions import PositiveLaw, gamma_variates
from theorax.numerics.extents import Extent, block
from theorax.numerics.keys import named
from theorax.numerics.rounding import gamma


def markov(weights: Float[Array, "N N"], T: Extent) -> Float[Array, "N N"]:
    r"""The Markov matrix $A_{ij} = Z_{ij} / \sum_{k<T} Z_{ik}$ of the leading T x T block of the weights Z.

    A row of zeros, which would be 0/0, becomes the uniform row 1/T. For weights that vanish with probability 1 - p
    this happens in one row with probability (1-p)^T (2^-T for p = 1/2), so the law of the matrix moves by at most T
    (1-p)^T in total variation from the law conditioned on the absence of such rows.

    **Errors:** an entry is within (N + 1) u of the exact quotient, relatively, and so is the sum of a row within
    (2N + 2) u of one, u the unit roundoff, to first order.
    """
    kept = jnp.where(block(T, T), weights, 0)
    total = kept.sum(axis=1, keepdims=True)
    uniform = block(T, T) / jnp.asarray(T.value, weights.dtype)
    return jnp.where(total > 0, kept / jnp.where(total > 0, total, 1), uniform)


def random_markov(key: PRNGKeyArray, law: PositiveLaw, T: Extent) -> Float[Array, "{T.padded} {T.padded}"]:
    r"""A random Markov matrix: iid weights of this law, rows normalised to sum to one; zero outside the T x T block.

    **Errors:** see `markov`; rows of zeros are replaced there, with the probability stated there.

    **Source:** Bordenave et al. 2012, section 1.
    """
    # Materialised: the compiler would draw the weights twice, once for their sums and once for the quotients.
    return markov(jax.lax.optimization_barrier(law.sample(key, (T.padded, T.padded))), T)


def gaussian(
    key: PRNGKeyArray, rows: Extent, columns: Extent, scale: Scalar = 1.0
) -> Float[Array, "{rows.padded} {columns.padded}"]:
    """A block of iid N(0, scale^2) entries, zero outside it."""
    return jnp.where(block(rows, columns), scale * jax.random.normal(key, (rows.padded, columns.padded)), 0)


def haar_rows(key: PRNGKeyArray, T: Extent, d: Extent) -> Float[Array, "{T.padded} {d.padded}"]:
    r"""T orthonormal rows in dimension d, Haar distributed on the Stiefel manifold.

    With $G$ a d x T Gaussian block and $G = QR$, $Q$ times the signs of the diagonal of $R$ is the factor with
    $R_{ii} > 0$, which is unique, hence $Q(OG) = O\,Q(G)$ for orthogonal $O$ and $Q$ is invariant. Zero rows of $G$
    stay zero in the leading columns of $Q$, and Householder's leading columns do not see those that follow: the frame
    of the block is the block of the frame, and what QR makes of the zero columns is masked.

    **Errors:** $\|QQ^T - I\|_F$ is at most ``householder_frame_defect`` of the padded sizes, where the
    operations are counted: about $52\,T^{3/2} d u$, u the unit roundoff. What is met is a few u.

    **Raises:** UsageError if there are more rows than dimensions, where the sizes are known; traced sizes are not
    checked.

    **Source:** Mezzadri 2007, section 5.
    """
    _fits(T, d)
    return jnp.where(block(T, d), orthonormal_rows(gaussian(key, d, T).T), 0)


def householder_frame_defect(rows: int, dimension: int, dtype: DTypeLike) -> float:
    r"""A bound of $\|QQ^T - I\|_F$ for T = ``rows`` orthonormal rows from Householder reflections in dimension d.

    $2\sqrt T \gamma + T\gamma^2$ with $\gamma = \gamma_{T(26 d + 86)}$, by a count of the operations of LAPACK's
    unblocked xGEQR2 and xORG2R, $\theta_n$ standing for a relative error of at most $\gamma_n$:

    - the norm of what stands below the diagonal: $\theta_{3d+4}$, be its squares summed plainly or rescaled on the way
      (an addition for each term and four roundings for each rescaling, halved by the root);
    - $\beta = \mp\mathrm{hypot}(\alpha, \cdot)$: $\theta_{3d+8}$; $\alpha - \beta$, of terms of one sign:
      $\theta_{3d+9}$; hence $v_j = x_j \cdot (1/(\alpha - \beta))$: $\theta_{3d+11}$, and
      $\tau = (\beta - \alpha)/\beta$: $\theta_{6d+18}$;
    - $w = v^T b$: off by $\gamma_{4d+11} \|v\|\|b\|$, and $\tau\|v\|^2 = 2$, so that the computed $\tau w v$ is off by
      $2\gamma_{13d+42}\|b\|$ and $b - \tau w v$, exactly as long as b, by $\gamma_{26d+86}\|b\|$.

    A column goes through T reflections, each exactly orthogonal for the numbers that it was made of, so that it ends
    within $\gamma_{T(26d+86)}$ of a column of an exactly orthogonal matrix. For d the padded dimension; an overestimate,
    as every such count: what is met is a few units.

    **Errors:** none of its own. The count is that of unblocked reflections: up to 128 rows in LAPACK as it is configured.

    **Source:** Higham 2002, lemmas 19.1 to 19.3, whose constants are counted here.
    """
    one = gamma(rows * (26 * dimension + 86), dtype)
    return 2 * math.sqrt(rows) * one + rows * one**2


def orthonormal_rows(G: Float[Array, "T d"]) -> Float[Array, "T d"]:
    """The frame Q of $G = RQ$ with a positive diagonal of the lower triangle R: Haar rows where G is Gaussian.

    **Errors:** as for `haar_rows`. Rows of zeros become what Householder's algorithm makes of them: mask them.
    """
    frame, triangle = jnp.linalg.qr(G.T)
    signs = jnp.where(jnp.diagonal(triangle) < 0, -1, 1).astype(frame.dtype)
    return (frame * signs).T


def haar(key: PRNGKeyArray, d: Extent) -> Float[Array, "{d.padded} {d.padded}"]:
    """A Haar orthogonal matrix of size d, zero outside its block; errors as for `haar_rows`."""
    return haar_rows(key, d, d)


def bartlett(key: PRNGKeyArray, T: Extent, d: Extent) -> Float[Array, "{T.padded} {T.padded}"]:
    r"""The Bartlett factor: lower triangular R with $RR^T = GG^T$ in law, G a T x d standard Gaussian block, T <= d.

    $G = RQ$ with Q a frame of orthonormal rows independent of R; $R_{ij} \sim N(0,1)$ for $j<i$ and
    $R_{ii} \sim \chi_{d-i}$, counting i from zero, all independent. So (T choose 2) normals and T gammas stand for T d
    normals. The factor of order 2h is made of two squares of h x h normals: one is its block below the diagonal, the
    other holds both triangles beside it, one on each side of its own diagonal, whose h numbers are not used.

    **Raises:** UsageError if T > d, where the sizes are known; traced sizes are not checked.

    **Source:** Bartlett 1933; Muirhead 1982, theorem 3.2.14.
    """
    _fits(T, d)
    N, half = T.padded, (T.padded + 1) // 2
    normals = jax.random.normal(named(key, "below the diagonal"), (2, half, half))
    # Materialised, or the compiler draws the numbers again for each of the pieces cut from them.
    below, both = jax.lax.optimization_barrier(normals)
    degrees = jnp.asarray(d.value - jnp.arange(N), below.dtype)
    chi = jnp.sqrt(2 * gamma_variates(named(key, "diagonal"), jnp.where(degrees > 0, degrees, 1) / 2))
    strict = jnp.block([[jnp.tril(both, -1), jnp.zeros_like(below)], [below, jnp.triu(both, 1).T]])
    return jnp.where(block(T, T), strict[:N, :N] + jnp.diag(chi), 0)


def _fits(T: Extent, d: Extent) -> None:
    """T orthonormal vectors need d >= T dimensions, in the padded arrays and, where it is known, in what they mean."""
    known = isinstance(T.value, int) and isinstance(d.value, int)
    if T.padded > d.padded or (known and T.value > d.value):
        rows, columns = (T.value, d.value) if known and T.value > d.value else (T.padded, d.padded)
        raise UsageError(
            f"{rows} orthonormal rows were asked for in dimension {columns}.\n"
            "  No more than d vectors of dimension d are orthonormal.\n"
            f"  Write a width d of at least {rows}, padding included."
        )
