r"""Causal kernel descent, its limit in depth, and Kaczmarz's algorithm: three programs for one prediction.

Tokens x_1, x_2, ... with kernel values $K_{ts} = k(x_t, x_s)$; K_L is the lower triangle of K with its diagonal, L the
strict one, and the targets are the next tokens. All of them are causal: what stands after position t never enters
what is computed at t, so a sequence may be longer than the part that is looked at.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.annotations import Scalar


def kernel(products: Float[Array, " *shape"], exponential: Scalar) -> Float[Array, " *shape"]:
    """Kernel values from inner products <x, y>: themselves, or exp of them where ``exponential`` is one."""
    return jnp.where(jnp.asarray(exponential) == 1, jnp.exp(products), products)


def substituted(K: Float[Array, "T T"], right: Float[Array, "T d"]) -> Float[Array, "T d"]:
    r"""The solution u of $K_L u$ = ``right``, by forward substitution; what stands above the diagonal of K is not read.

    **Errors:** backward stable, $|\delta K_L| \le \gamma_T |K_L|$ entry by entry. Where K is positive semidefinite with
    the constant $\kappa$ on its diagonal, the symmetric part of K_L is $(K + \kappa I)/2$, hence
    $\|K_L^{-1}\|_2 \le 2/\kappa$; with $|K_{ts}| \le \kappa$ the error of u is at most $2 T \gamma_T \|u\|$ in the
    Euclidean norm, whatever T.

    **Source:** Higham 2002, theorem 8.5 for the errors.
    """
    before = jnp.tril(jnp.ones(K.shape, bool), -1)
    here = jnp.eye(K.shape[0], dtype=bool)

    def substitute(u: Array, row: tuple[Array, Array, Array, Array]) -> tuple[Array, None]:
        values, side, earlier, own = row
        solved = (side - jnp.where(earlier, values, 0) @ u) / jnp.where(own, values, 0).sum()
        return jnp.where(own[:, None], solved[None, :], u), None

    return jax.lax.scan(substitute, jnp.zeros_like(right), (K, right, before, here))[0]


def fixed_point(K: Float[Array, "T T"], targets: Float[Array, "T d"]) -> Float[Array, "T d"]:
    """The depth limit u of causal kernel descent: $K_L u = L x_+$; errors as for `substituted`."""
    return substituted(K, jnp.tril(K, -1) @ targets)


def by_residuals(K: Float[Array, "T T"], targets: Float[Array, "T d"]) -> Float[Array, "T d"]:
    r"""The depth limit from its residuals $r_s = x_{s+1} - u_s$: $K_{tt} u_t = \sum_{s<t} K_{ts} r_s$, sums taken by halves.

    **Errors:** row t is off by at most $\gamma_{\lceil \log_2 T \rceil + 2} \sum_{s<t} |K_{ts}| |r_s| / K_{tt}$.

    **Source:** Higham 2002, section 4.2 for sums by halves.
    """

    def substitute(r: Array, row: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        number, values, target = row
        terms = values[:, None] * r
        while len(terms) > 1:
            terms = jnp.concatenate([terms, jnp.zeros_like(terms[: len(terms) % 2])])
            terms = terms[::2] + terms[1::2]
        u = terms[0] / values[number]
        return r.at[number].set(target - u), u

    return jax.lax.scan(substitute, jnp.zeros_like(targets), (jnp.arange(len(K)), K, targets))[1]


def residuals(K: Float[Array, "T T"], targets: Float[Array, "T d"]) -> Float[Array, "T d"]:
    r"""Residuals of the depth limit: $u_t - x_{t+1}$, of which $K_L r = -\kappa x_+$ on the sphere.

    **Errors:** that of `fixed_point` and one rounding of the difference.
    """
    return fixed_point(K, targets) - targets


def nilpotent_exponential(strict: Float[Array, "T T"], s: Scalar, start: Float[Array, "T d"]) -> Float[Array, "T d"]:
    r"""$e^{-sL}$ ``start`` for a strictly lower triangular L: the finite sum of $(-sL)^j/j!$ ``start``, j < T.

    **Errors:** term j goes through at most $j(T + 3)$ roundings, so the sum is off by at most
    $\gamma_{T(T + 4)} e^{|s||L|}$ |``start``| entry by entry: small beside the result where -sL and ``start`` have no
    cancelling signs, and a growing multiple of it where $\||sL|\|$ is large.
    """
    term = total = start
    for j in range(1, strict.shape[0]):
        term = -s * (strict @ term) / j
        total = total + term
    return total


def descent(
    K: Float[Array, "T T"], targets: Float[Array, "T d"], step: Scalar, layers: int
) -> Float[Array, "layers T d"]:
    r"""Causal kernel descent from zero: $u \leftarrow u - \eta (K_L u - L x_+)$, after 1, ..., ``layers`` layers.

    **Errors:** I - step K_L is far from normal: before they settle, positions reach values that grow exponentially
    with T, and rounding of that relative size stays. In float64 and with step 1/K_tt up to T = 40; beyond, use
    `fixed_point`.
    """
    lower, strict = jnp.tril(K), jnp.tril(K, -1)

    def layer(u: Array, _: None) -> tuple[Array, Array]:
        u = u - step * (lower @ u - strict @ targets)
        return u, u

    return jax.lax.scan(layer, jnp.zeros_like(targets), None, length=layers)[1]


def kaczmarz(
    features: Float[Array, "T m"], targets: Float[Array, "T d"]
) -> tuple[Float[Array, "T d"], Float[Array, "T d m"]]:
    r"""Kaczmarz's algorithm from W_1 = 0: the predictions $W_t \phi_t$ and the W_t that made them.

    $W_{t+1} = W_t + (x_{t+1} - W_t \phi_t) \phi_t^T / |\phi_t|^2$.

    **Errors:** W_t - W is multiplied by projections, so that local errors add up and do not grow.
    """

    def project(W: Array, pair: tuple[Array, Array]) -> tuple[Array, tuple[Array, Array]]:
        phi, target = pair
        guess = W @ phi
        return W + (target - guess)[:, None] * phi[None, :] / (phi @ phi), (guess, W)

    start = jnp.zeros((targets.shape[1], features.shape[1]), targets.dtype)
    return jax.lax.scan(project, start, (features, targets))[1]


def reflected(vectors: Float[Array, "k d"]) -> Float[Array, "d d"]:
    r"""The product of the reflections $I - 2 v v^T/|v|^2$: orthogonal in every arithmetic; a zero vector counts as none."""
    Omega = jnp.eye(vectors.shape[1], dtype=vectors.dtype)
    for v in vectors:
        square = v @ v
        Omega = Omega - 2 * (Omega @ v)[:, None] * v[None, :] / jnp.where(square == 0, 1, square)
    return Omega


def orbit(Omega: Float[Array, "d d"], start: Float[Array, " d"], length: int) -> Float[Array, "length d"]:
    """x_1 = ``start``, x_(t+1) = Omega x_t."""

    def forward(x: Array, _: None) -> tuple[Array, Array]:
        return Omega @ x, x

    return jax.lax.scan(forward, start, None, length=length)[1]


def log_of_power(M: Float[Array, "d d"], start: Float[Array, " d"], count: Scalar) -> Float[Array, ""]:
    r"""$\ln |M^n x|$ for n = ``count`` and x = ``start``, the vector brought to length one after each product.

    No power of M is formed, so nothing under- or overflows.

    **Errors:** backward stable: but for the n roundings of the sum of logarithms the value is exact for a product of
    matrices $M + \delta M_k$, $|\delta M_k| \le \gamma_{d+4} |M|$ entry by entry, another one in each step: a length and
    its rounding cancel between the step that divides by it and its own logarithm.
    """

    def forward(_: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        x, total = state
        x = M @ x
        size = jnp.linalg.norm(x)
        return x / size, total + jnp.log(size)

    return jax.lax.fori_loop(0, count, forward, (start, 0.0))[1]


def circle_spectrum(order: int) -> Float[Array, " {order}+1"]:
    r"""The weights w_n, n up to ``order``, of the exponential kernel on the circle: $e^{\cos a} = \sum_n w_n \cos(na)$.

    $w_0 = I_0(1)$ and $w_n = 2 I_n(1)$, $I_n(1) = \sum_j 2^{-2j-n}/(j!\,(j+n)!)$.

    **Errors:** twenty terms leave less than $2^{-40}/20!$ of the leading one, 4e-31.

    **Source:** Abramowitz and Stegun 1964, 9.6.10 and 9.6.34.
    """
    n, j = jnp.arange(order + 1.0)[:, None], jnp.arange(20.0)[None, :]
    gammaln = jax.scipy.special.gammaln
    terms = jnp.exp(-(2 * j + n) * jnp.log(2.0) - gammaln(j + 1) - gammaln(j + n + 1))
    return terms.sum(1) * jnp.where(n[:, 0] == 0, 1, 2)
