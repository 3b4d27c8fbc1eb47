"""JAX's linear algebra in every arithmetic: what is read as a whole is JAX's own, and nothing else is."""

from __future__ import annotations

import random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from flint import arb

from theorax import exact
from theorax.numerics.arithmetics import (
    Ball,
    Degree,
    FiniteField,
    RunningError,
    Symbolic,
    UndecidedComparison,
    UnsupportedPrimitive,
    evaluate,
)
from theorax.numerics.arithmetics.flat_program import flatten, trace

jax.config.update("jax_enable_x64", True)

SQUARE = np.random.default_rng(1).normal(size=(4, 4))


def names(function: Any, *arguments: Any) -> set[str]:
    """The primitives of a program that hold linear algebra."""
    steps = flatten(trace(function, arguments, lambda leaf: False).closed).steps
    return {step.name for step in steps} & {"det", "slogdet", "linear_solve", "lu", "custom_linear_solve"}


def test_calls_of_the_library_are_read_as_a_whole() -> None:
    assert names(jnp.linalg.inv, SQUARE) == {"linear_solve"}
    assert names(jnp.linalg.det, SQUARE) == {"det"}
    assert names(jax.jit(jnp.linalg.slogdet), SQUARE) == {"slogdet"}
    assert names(jax.grad(lambda a: jnp.linalg.solve(a, a[0])[1]), SQUARE) == {"linear_solve"}


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_no_determinant_looks_for_pivots_among_symbols(order: int) -> None:
    """Whether this version of JAX writes a determinant out or looks for pivots."""
    entries = np.array(sympy.symbols(f"a:{order}:{order}", real=True), dtype=object).reshape(order, order)
    found = evaluate(jnp.linalg.det, (entries,), Symbolic()).item()
    assert sympy.expand(found - sympy.Matrix(entries).det()) == 0


def test_a_function_of_the_same_name_is_not_the_library() -> None:
    @jax.jit
    def det(a: Any) -> Any:
        return jnp.linalg.slogdet(a)[1]

    assert "det" not in names(det, SQUARE)


def wrongly(a: Any, b: Any) -> Any:
    """A linear system solved by a body that exchanges the wrong rows."""
    factors, _, order = jax.lax.linalg.lu(a)

    def solve(matvec: Any, right: Any) -> Any:
        del matvec
        exchanged = right[order[::-1]][:, None]
        lower = jax.lax.linalg.triangular_solve(factors, exchanged, left_side=True, lower=True, unit_diagonal=True)
        return jax.lax.linalg.triangular_solve(factors, lower, left_side=True)[:, 0]

    return jax.lax.custom_linear_solve(lambda x: a @ x, b, solve)


def test_a_wrong_body_of_a_solve_is_what_is_run() -> None:
    at = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 2.0])
    assert "linear_solve" not in names(wrongly, *at)
    assert exact.identity(wrongly, jnp.linalg.solve, at).status == "REFUTED"


def test_factors_depend_on_the_order_and_have_none_in_a_field() -> None:
    for domain in (FiniteField.drawn(random.Random(0)), Degree()):
        with pytest.raises(UnsupportedPrimitive, match="depends on the order"):
            evaluate(jax.lax.linalg.lu, (SQUARE,), domain)
    letters = np.array(sympy.symbols("a:4", real=True), dtype=object).reshape(2, 2)
    with pytest.raises(UndecidedComparison):
        evaluate(jax.lax.linalg.lu, (letters,), Symbolic())


def test_factors_are_those_of_partial_pivoting() -> None:
    # Columns with ties, with zeros, of fewer rows than columns.
    for matrix in (SQUARE, np.array([[1.0, 2.0], [-1.0, 3.0]]), np.array([[0.0, 1.0], [0.0, 2.0]]), SQUARE[:2]):
        factors, pivots, order = evaluate(jax.lax.linalg.lu, (matrix,), Ball(128))
        wanted = jax.lax.linalg.lu(matrix)
        assert np.array_equal(pivots, wanted[1])
        assert np.array_equal(order, wanted[2])
        found = np.vectorize(lambda entry: float(entry.mid()), otypes=[float])(factors)
        assert np.max(np.abs(found - wanted[0])) <= 64 * 2.0**-53 * np.max(np.abs(matrix))


def test_a_singular_system_has_no_solution_and_a_determinant() -> None:
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert not any(entry.is_finite() for entry in evaluate(jnp.linalg.inv, (singular,), Ball(128)).ravel())
    four = np.kron(np.eye(2), singular)
    assert evaluate(jnp.linalg.det, (four,), Ball(128)).item().contains(0)
    with pytest.raises(UndecidedComparison):
        evaluate(jnp.linalg.cholesky, (np.array([[arb(0, 1)]], dtype=object),), Ball(128))
    assert evaluate(jnp.linalg.cholesky, (-np.eye(2),), Ball(128))[0, 0].is_nan()


def test_a_solution_in_letters_is_that_of_cramer() -> None:
    letters = np.array(sympy.symbols("a:4", real=True), dtype=object).reshape(2, 2)
    inverse = evaluate(jnp.linalg.inv, (letters,), Symbolic())
    product = sympy.Matrix(letters) * sympy.Matrix(inverse)
    assert product.applyfunc(sympy.simplify) == sympy.eye(2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_the_residual_bounds_every_execution_of_a_solve(size: int, dtype: str) -> None:
    draws = np.random.default_rng(size)
    finite = 0
    for turn in range(20):
        # Up to condition numbers of a thousand.
        frame, other = (np.linalg.qr(draws.normal(size=(size, size)))[0] for _ in range(2))
        matrix = ((frame * 10.0 ** draws.uniform(-3 * (turn % 2), 0, size)) @ other).astype(dtype).astype(float)
        right = draws.normal(size=(size, 2)).astype(dtype).astype(float)
        found = evaluate(jnp.linalg.solve, (matrix, right), RunningError(dtype))
        true = evaluate(jnp.linalg.solve, (matrix, right), Ball(256))
        middle = np.vectorize(lambda entry: float(entry.mid()), otypes=[float])(true)
        run = np.asarray(jnp.linalg.solve(jnp.asarray(matrix, dtype), jnp.asarray(right, dtype)), float)
        assert np.all(np.abs(found.value - middle) <= found.error * (1 + 2.0**-40) + 2.0**-52 * np.abs(middle))
        assert np.all(np.abs(run - found.value) <= found.reach)
        finite += bool(np.all(np.isfinite(found.error)))
    assert finite >= 10
