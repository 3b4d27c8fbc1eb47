r"""Support vector regression with several outputs: its primal and its dual program, each really solved.

Rows $x_j$, targets $y_j$. For every output by itself,

$$P = \min_{w, b} \tfrac12 |w|^2 + C \sum_j (\xi_j + \tilde\xi_j), \qquad
  D = \max_{0 \le \alpha, \tilde\alpha \le C} -\tfrac12 \beta^T G \beta + y^T \beta
      - \varepsilon \sum_j (\alpha_j + \tilde\alpha_j), \quad \beta = \alpha - \tilde\alpha,$$

with slacks $\xi = (y - f - \varepsilon)_+$, $\tilde\xi = (f - y - \varepsilon)_+$ of $f_j = w \cdot x_j + b$, $G = XX^T$,
and $\sum \beta = 0$ where $b$ is a variable. The solvers are witnesses: what they return is judged by the values
below, which are ordinary programs of arrays that every arithmetic follows, balls included.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from theorax.errors import ObservationError
from theorax.numerics.host import on_host

__all__ = [
    "Dual",
    "Primal",
    "cholesky",
    "expanded_bound",
    "feasible",
    "lower_bound",
    "null_part",
    "pseudo_solved",
    "solve_dual",
    "solve_primal",
    "solved",
    "upper_bound",
]

# Interior points end near the rounding of the values, and where rows are badly scaled before it: the finest tolerance
# that the solver accepts is taken. What it reached is judged by the gap.
TOLERANCES = (1e-13, 1e-11, 1e-9)

Matrix = Float[Array, "N F"]
Outputs = Float[Array, "N V"]


class Primal(NamedTuple):
    """Weights and biases, one row for each output."""

    W: Float[Array, "V F"]
    b: Float[Array, " V"]


class Dual(NamedTuple):
    """Multipliers of the two sides of the tube, one column for each output, and that of the sum of their differences.

    ``spare`` are the rows whose alpha, and whose alphat, have most room below C: what rounding leaves of the sum is put
    there, on the side that its sign asks for.
    """

    alpha: Outputs
    alphat: Outputs
    b: Float[Array, " V"]
    spare: Int[Array, "2 V"]

    @property
    def beta(self) -> Outputs:
        """The coefficients of the expansion."""
        return self.alpha - self.alphat


def solve_primal(rows: Matrix, targets: Outputs, C: Any, eps: Any, bias: bool = True) -> Primal:
    """An optimal W and b by an interior point method (cvxpy, Clarabel), output by output; b = 0 without ``bias``.

    **Errors:** with the gap g of its value over a lower bound, |w - w*| is at most sqrt(2 g): P is strongly convex in w.

    **Raises:** ObservationError if the solver gives up.
    """
    (_, F), V = jnp.shape(rows), jnp.shape(targets)[1]
    return Primal(*on_host(partial(_columns, partial(_primal, bias=bias)), [(V, F), (V,)], rows, targets, C, eps))


def solve_dual(root: Matrix, targets: Outputs, C: Any, eps: Any, bias: bool = True) -> Dual:
    """Optimal multipliers for G = R R^T; ``root`` is R, the rows themselves or the Cholesky factor of a kernel matrix.

    **Errors:** with the gap g, (beta - beta*)^T G (beta - beta*) is at most 2 g; beta itself is known where the least
    eigenvalue of G is not small against that.

    **Raises:** ObservationError if the solver gives up.
    """
    N, V = jnp.shape(targets)
    shapes = [(V, N), (V, N), (V,), (V, 2)]
    alpha, alphat, b, spare = on_host(partial(_columns, partial(_dual, bias=bias)), shapes, root, targets, C, eps)
    return Dual(alpha.T, alphat.T, b, spare.T.astype(int))


def cholesky(G: Float[Array, "N N"]) -> Float[Array, "N N"]:
    """The lower triangular R with R R^T = G.

    **Raises:** ObservationError if G is not positive definite to rounding: its coefficients are then not determined.
    """

    def factor(G: np.ndarray) -> tuple[np.ndarray]:
        try:
            return (np.linalg.cholesky(G),)
        except np.linalg.LinAlgError:
            raise ObservationError(
                "A kernel matrix is not positive definite to rounding. The coefficients of an expansion in its columns "
                "are then not determined. Use fewer or more separate keys, or the rows themselves as its root."
            ) from None

    return on_host(factor, [jnp.shape(G)], G)[0]


def solved(G: Float[Array, "N N"], B: Float[Array, "N V"]) -> Float[Array, "N V"]:
    """G^-1 B for a positive definite G, by elimination without a choice of pivots: the same steps in every arithmetic.

    **Errors:** those of elimination, stable for such matrices: a small multiple of the rounding times the condition of G.

    **Source:** Higham 2002, section 10.1.
    """
    N = G.shape[0]
    rows = jnp.concatenate([G, B], axis=1)
    for i in range(N):
        row = rows[i] / rows[i, i]
        rows = rows - (rows[:, i] - jnp.eye(N, dtype=G.dtype)[i])[:, None] * row
    return rows[:, N:]


def pseudo_solved(rows: Matrix, B: Float[Array, "N V"]) -> Float[Array, "N V"]:
    """G^+ B for G = X X^T, X of full column rank: X (X^T X)^-2 X^T B, which is G^-1 B where X is square.

    **Errors:** those of `solved` for X^T X, whose condition is that of G on its range, twice.
    """
    half = solved(rows.T @ rows, rows.T)
    return half.T @ (half @ B)


def null_part(rows: Matrix, U: Outputs) -> Outputs:
    """U less its part in the span of the columns of X: X^T of it is zero, so that G does not see it.

    **Errors:** those of `solved` for X^T X, by the size of U.
    """
    return U - rows @ solved(rows.T @ rows, rows.T @ U)


def upper_bound(primal: Primal, rows: Matrix, targets: Outputs, C: Any, eps: Any) -> Float[Array, ""]:
    """P at any W and b, summed over the outputs: above the least value, for the slacks are those that W and b need."""
    off = targets - rows @ primal.W.T - primal.b
    slacks = jnp.maximum(off - eps, 0) + jnp.maximum(-off - eps, 0)
    return jnp.sum(primal.W**2) / 2 + C * jnp.sum(slacks)


def expanded_bound(
    beta: Outputs, b: Float[Array, " V"], G: Float[Array, "N N"], targets: Outputs, C: Any, eps: Any
) -> Float[Array, ""]:
    r"""P at $w = \sum_j \beta_j x_j$ and b, summed over the outputs, by G alone: $f = G\beta + b$, $|w|^2 = \beta^T G\beta$.

    **Errors:** with the gap g of this value over D at the same coefficients, $d = \beta - \beta^*$ has $d^T G d \le g$: P is
    strongly convex in w and D strongly concave in w, so that each of them is half of that from the common value.
    """
    slacks = jnp.maximum(jnp.abs(targets - G @ beta - b) - eps, 0)
    return (beta * (G @ beta)).sum() / 2 + C * slacks.sum()


def lower_bound(alpha: Outputs, alphat: Outputs, G: Float[Array, "N N"], targets: Outputs, eps: Any) -> Array:
    """D at feasible multipliers, summed over the outputs: below the least value of P."""
    beta = alpha - alphat
    return jnp.sum(targets * beta - beta * (G @ beta) / 2 - eps * (alpha + alphat))


def feasible(dual: Dual, C: Any, bias: bool = True) -> tuple[Outputs, Outputs]:
    """Multipliers in [0, C], with differences that sum to zero where ``bias``, by construction in every arithmetic.

    Where a spare row has no room for what the sum is off, an entry leaves [0, C]: check ``C - alpha``.
    """
    alpha, alphat = (jnp.minimum(jnp.maximum(part, 0), C) for part in dual[:2])
    if not bias:
        return alpha, alphat
    excess = jnp.sum(alpha - alphat, axis=0)
    up, down = (jnp.arange(alpha.shape[0])[:, None] == row for row in dual.spare)
    return alpha + jnp.where(up, jnp.maximum(-excess, 0), 0), alphat + jnp.where(down, jnp.maximum(excess, 0), 0)


def _columns(solve: Callable[..., Any], rows: Any, targets: Any, C: Any, eps: Any) -> list[np.ndarray]:
    """Solutions that ``solve`` finds for every column of the targets, stacked."""
    return [np.stack(part) for part in zip(*(solve(rows, y, C, eps) for y in targets.T), strict=True)]


def _primal(rows: np.ndarray, y: np.ndarray, C: Any, eps: Any, bias: bool) -> tuple[np.ndarray, Any]:
    program, given, (w, b) = _primal_program(*rows.shape, bias)
    _solved(program, given, rows, y, C, eps)
    return w.value, b.value if bias else 0.0


def _dual(root: np.ndarray, y: np.ndarray, C: Any, eps: Any, bias: bool) -> tuple[Any, ...]:
    program, given, (alpha, alphat, balance) = _dual_program(*root.shape, bias)
    _solved(program, given, root, y, C, eps)
    up, down = np.clip(alpha.value, 0, C), np.clip(alphat.value, 0, C)
    return up, down, balance.dual_value if bias else 0.0, (np.argmin(up), np.argmin(down))


def _solved(program: Any, given: Any, matrix: np.ndarray, y: np.ndarray, C: Any, eps: Any) -> None:
    import cvxpy
    from cvxpy.error import SolverError

    if not (np.isfinite(matrix).all() and np.isfinite(y).all()):
        raise ObservationError(
            f"A regression was given rows of shape {matrix.shape} or targets that are not finite. No program has a value "
            "then. Look at its data: a normaliser near zero makes rows that no float holds."
        )
    for parameter, value in zip(given, (matrix, y, float(C), float(eps)), strict=True):
        parameter.value = value
    for fine in TOLERANCES:
        to = dict(tol_gap_abs=fine, tol_gap_rel=fine, tol_feas=fine, tol_ktratio=max(fine, 1e-10))
        # A solver that stops short of the tolerance warns; the next one is then asked for.
        with suppress(SolverError), warnings.catch_warnings(action="ignore"):
            program.solve(solver=cvxpy.CLARABEL, warm_start=False, **to)
            if program.status == cvxpy.OPTIMAL:
                break
    if program.status not in (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE):
        raise ObservationError(
            f"The regression was not solved: it is {program.status}. Both programs always have a solution for C > 0. "
            "Give numbers of order one, in units of the targets."
        )


# A program is compiled once for its shape and solved again with other numbers: forty times faster than a new one.
@lru_cache(maxsize=32)
def _primal_program(N: int, F: int, bias: bool) -> tuple[Any, Any, Any]:
    import cvxpy as cp

    rows, y, (C, eps) = cp.Parameter((N, F)), cp.Parameter(N), (cp.Parameter(nonneg=True) for _ in range(2))
    w, b, (xi, xit) = cp.Variable(F), cp.Variable(), (cp.Variable(N, nonneg=True) for _ in range(2))
    f = rows @ w + (b if bias else 0)
    value = cp.sum_squares(w) / 2 + C * cp.sum(xi + xit)
    program = cp.Problem(cp.Minimize(value), [y - f <= eps + xi, f - y <= eps + xit])
    return program, (rows, y, C, eps), (w, b)


@lru_cache(maxsize=32)
def _dual_program(N: int, F: int, bias: bool) -> tuple[Any, Any, Any]:
    import cvxpy as cp

    root, y, (C, eps) = cp.Parameter((N, F)), cp.Parameter(N), (cp.Parameter(nonneg=True) for _ in range(2))
    alpha, alphat = (cp.Variable(N, nonneg=True) for _ in range(2))
    beta = alpha - alphat
    value = y @ beta - cp.sum_squares(root.T @ beta) / 2 - eps * cp.sum(alpha + alphat)
    balance = cp.sum(beta) == 0
    constraints: list[Any] = [alpha <= C, alphat <= C, *([balance] if bias else [])]
    program = cp.Problem(cp.Maximize(value), constraints)
    return program, (root, y, C, eps), (alpha, alphat, balance)
