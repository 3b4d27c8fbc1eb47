"""Regressions are solved to the accuracy their gap declares, eagerly and inside compiled programs, and refuse in a sentence."""

# ruff: noqa: E402  (the precision is set before anything is traced)
import jax

jax.config.update("jax_enable_x64", True)

import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

from theorax.errors import ObservationError
from theorax.numerics.host import on_host
from theorax.theorems.primal_dual_attention import _quadratic as quadratic

C, EPS = 3.0, 0.1


def data(rng, N=8, F=3, V=2):
    return jnp.asarray(rng.normal(size=(N, F))), jnp.asarray(rng.normal(size=(N, V)))


@pytest.mark.parametrize("bias", [True, False])
def test_primal_and_dual_meet(rng, bias):
    X, y = data(rng)
    primal, dual = quadratic.solve_primal(X, y, C, EPS, bias), quadratic.solve_dual(X, y, C, EPS, bias)
    alpha, alphat = quadratic.feasible(dual, C, bias)
    above = quadratic.upper_bound(primal, X, y, C, EPS)
    gap = above - quadratic.lower_bound(alpha, alphat, X @ X.T, y, EPS)
    # Both values are sums of less than 100 terms of their size.
    assert -100 * 2**-53 * above < gap < 1e-9
    # Strong convexity: half the square of what W is off is at most the gap.
    assert float(jnp.sum((primal.W - (alpha - alphat).T @ X) ** 2)) <= 2 * abs(gap) + 100 * 2**-53 * above
    if bias:
        assert np.abs((alpha - alphat).sum(0)).max() < 1e-14
        assert np.abs(primal.b - dual.b).max() < 1e-4
    else:
        assert not np.any(primal.b)


def test_one_target_in_closed_form():
    """One row x = 2 without bias: w = beta x, beta = min(C, (y - eps)/x^2)."""
    X = jnp.full((1, 1), 2.0)
    for y, beta in ((1.0, (1 - EPS) / 4), (100.0, C), (0.05, 0.0)):
        primal, dual = (
            s(X, jnp.full((1, 1), y), C, EPS, False) for s in (quadratic.solve_primal, quadratic.solve_dual)
        )
        # The gap is at most 1e-13 of the values, which are below 1000.
        assert abs(float(dual.beta[0, 0]) - beta) < 1e-5
        assert abs(float(primal.W[0, 0]) - 2 * beta) < 2e-5


def test_a_compiled_program_calls_the_same_solver(rng):
    X, y = data(rng)
    eager = quadratic.solve_dual(X, y, C, EPS)
    traced = jax.jit(lambda X, y: quadratic.solve_dual(X, y, C, EPS))(X, y)
    assert all(np.array_equal(a, b) for a, b in zip(eager, traced, strict=True))


def test_multipliers_are_feasible_by_construction(rng):
    shape = (6, 2)
    dual = quadratic.Dual(
        *(jnp.asarray(rng.uniform(0, 1, shape)) for _ in range(2)), jnp.zeros(2), jnp.array([[1, 4], [0, 5]])
    )
    alpha, alphat = quadratic.feasible(dual, 10.0)
    assert np.abs((alpha - alphat).sum(0)).max() < 1e-14
    assert min(alpha.min(), alphat.min()) >= 0
    assert max(alpha.max(), alphat.max()) <= 10


def test_multipliers_on_the_boundary_of_the_box_are_repaired():
    """Four targets of either sign far outside the tube: every multiplier is 0 or C."""
    y = jnp.array([[9.0], [9.0], [-9.0], [-9.0]])
    dual = quadratic.solve_dual(jnp.eye(4) / 100, y, 1.0, 0.0)
    for nudge in (1e-16, -1e-16):
        alpha, alphat = quadratic.feasible(dual._replace(alpha=dual.alpha + nudge), 1.0)
        assert max(alpha.max(), alphat.max()) <= 1
        assert min(alpha.min(), alphat.min()) >= 0


def test_the_cholesky_factor_is_one_or_refuses(rng):
    X, _ = data(rng, F=9)
    R = quadratic.cholesky(X @ X.T)
    assert np.allclose(R @ R.T, X @ X.T, atol=1e-13)
    with pytest.raises(ObservationError, match="positive definite"):
        quadratic.cholesky(-jnp.eye(2))


def test_elimination_solves(rng):
    X, y = data(rng, F=9)
    G = X @ X.T + jnp.eye(8)
    # Condition below a hundred.
    assert np.allclose(G @ quadratic.solved(G, y), y, rtol=0, atol=1e-12)


def test_the_pseudo_inverse_and_what_it_does_not_see(rng):
    X, y = data(rng)
    G = np.asarray(X @ X.T)
    # Condition of X^T X below a hundred, some hundred roundings of numbers of order ten.
    assert np.allclose(quadratic.pseudo_solved(X, y), np.linalg.pinv(G, rcond=1e-8) @ y, rtol=0, atol=1e-11)
    free = quadratic.null_part(X, y)
    assert np.allclose(X.T @ free, 0, rtol=0, atol=1e-11)
    assert np.allclose(y - free, X @ np.linalg.lstsq(X, y, rcond=None)[0], rtol=0, atol=1e-11)


def test_the_gap_of_an_expansion_bounds_what_its_coefficients_are_off(rng):
    X, y = data(rng)
    G, best = X @ X.T, quadratic.solve_dual(X, y, C, EPS)
    rounding = 1000 * 2**-53 * float(C * jnp.abs(y).sum())
    W = best.beta.T @ X
    upper = quadratic.upper_bound(quadratic.Primal(W, best.b), X, y, C, EPS)
    assert abs(quadratic.expanded_bound(best.beta, best.b, G, y, C, EPS) - upper) < rounding
    for share in (0.5, 1e-2, 1e-4):
        alpha, alphat = (1 - share) * best.alpha, (1 - share) * best.alphat
        value = quadratic.expanded_bound(alpha - alphat, best.b, G, y, C, EPS)
        gap = value - quadratic.lower_bound(alpha, alphat, G, y, EPS)
        d = alpha - alphat - best.beta
        # What the solver itself is off, at most 1e-9 by its gap, enters by the root of its product with theirs.
        assert float((d * (G @ d)).sum()) <= gap + 1e-9 + 2 * float(jnp.sqrt(gap * 1e-9)) + rounding


def test_what_is_no_regression_is_said(rng):
    X, y = data(rng)
    with pytest.raises(ObservationError, match="not finite"):
        quadratic.solve_primal(X * jnp.nan, y, C, EPS)


def test_the_host_is_called_under_loops_too():
    square = lambda x: on_host(lambda a: (a**2,), [jnp.shape(x)], x)[0]  # noqa: E731
    summed = jax.jit(lambda n: jax.lax.fori_loop(0, n, lambda i, s: s + square(jnp.ones(3) * i), jnp.zeros(3)))(4)
    assert np.array_equal(summed, [14.0] * 3)
    assert np.array_equal(jax.vmap(square)(jnp.arange(3.0)), [0, 1, 4])


def test_the_modeller_is_imported_when_something_is_solved():
    code = "import sys, theorax.theorems.primal_dual_attention._quadratic; print('cvxpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
