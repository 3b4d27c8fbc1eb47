"""Causal kernel descent and its relatives against literal formulas."""

from __future__ import annotations

import math
from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import solve_triangular
from scipy.special import iv

from theorax.numerics import platform
from theorax.theorems.causal_kernel_descent._descent import (
    by_residuals,
    circle_spectrum,
    descent,
    fixed_point,
    kaczmarz,
    kernel,
    log_of_power,
    nilpotent_exponential,
    orbit,
    reflected,
    residuals,
)

UNIT = 2.0**-53


@pytest.fixture
def tokens():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(13, 3))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("exponential", [0, 1])
def test_a_long_context_is_solved_as_lapack_does(exponential):
    platform.enable()
    with platform.precision("float64"):
        turned = 0.7 * np.arange(401)[:, None]
        X = np.concatenate([np.cos(turned), np.sin(turned)], axis=1)
        K = np.asarray(kernel(jnp.asarray(X[:-1] @ X[:-1].T), exponential))
        found = np.asarray(fixed_point(jnp.asarray(K), jnp.asarray(X[1:])))
        reference = solve_triangular(np.tril(K), np.tril(K, -1) @ X[1:], lower=True)
        # Both are off by at most 2 T gamma_T ||u||; the right side by gamma_T sqrt(T) kappa, times ||K_L^-1|| <= 2/kappa.
        T = len(K)
        assert np.abs(found - reference).max() <= 8 * T * T * UNIT * np.linalg.norm(reference)


@pytest.mark.parametrize("exponential", [0, 1])
def test_the_limit_in_depth_solves_the_triangular_system(tokens, exponential):
    platform.enable()
    with platform.precision("float64"):
        K, targets = np.asarray(kernel(jnp.asarray(tokens[:-1] @ tokens[:-1].T), exponential)), tokens[1:]
        assert np.allclose(np.diag(K), np.e if exponential else 1, rtol=8 * UNIT, atol=0)
        found = np.asarray(fixed_point(jnp.asarray(K), jnp.asarray(targets)))
        literal = solve_triangular(np.tril(K), np.tril(K, -1) @ targets, lower=True)
        T = len(K)
        # Both are off by at most 2 T gamma_T ||u||, see fixed_point.
        assert np.abs(found - literal).max() <= 4 * T * T * UNIT * np.linalg.norm(literal)
        layers = np.asarray(descent(jnp.asarray(K), jnp.asarray(targets), 1 / K[0, 0], T))
        u = np.zeros_like(targets)
        for layer in layers:
            u = u - (np.tril(K) @ u - np.tril(K, -1) @ targets) / K[0, 0]
            # Layers differ by the rounding of sums of T terms, amplified at most 3^T times by |I - K_L/kappa| <= 2.
            assert np.abs(layer - u).max() <= 3**T * T * UNIT


def test_residuals_solve_their_own_triangular_system(tokens):
    """K_L r = -kappa x_+ on the sphere."""
    platform.enable()
    with platform.precision("float64"):
        K, targets = np.asarray(kernel(jnp.asarray(tokens[:-1] @ tokens[:-1].T), 1)), tokens[1:]
        literal = solve_triangular(np.tril(K), -np.e * targets, lower=True)
        found = np.asarray(residuals(jnp.asarray(K), jnp.asarray(targets)))
        T = len(K)
        # The limit is off by 2 T gamma_T ||u||, ||u|| <= ||r|| + ||x_+||, and so is the reference; K_tt rounds in exp.
        size = np.linalg.norm(literal) + np.linalg.norm(targets)
        assert np.abs(found - literal).max() <= (4 * T * T + 8 * T) * UNIT * size


def test_the_exponential_of_a_nilpotent_matrix_is_the_finite_sum_in_exact_arithmetic():
    platform.enable()
    generator = np.random.default_rng(2)
    T, s = 7, 0.75
    strict, start = np.tril(generator.normal(size=(T, T)), -1), generator.normal(size=(T, 2))
    exact = np.vectorize(Fraction, otypes=[object])
    term = total = exact(start)
    size = majorant = abs(start)
    for j in range(1, T):
        term, size = -Fraction(s) * (exact(strict) @ term) / j, s * (abs(strict) @ size) / j
        total, majorant = total + term, majorant + size
    with platform.precision("float64"):
        found = np.asarray(nilpotent_exponential(jnp.asarray(strict), s, jnp.asarray(start)))
    # gamma of the roundings that the docstring counts; the majorant is itself computed, which twice it covers.
    assert (abs(exact(found) - total).astype(float) <= 2 * T * (T + 4) * UNIT * majorant).all()


def test_the_logarithm_of_a_power_is_that_of_the_power_in_exact_arithmetic():
    """A matrix of positive entries: there a relative change of every entry moves the product by no more than that."""
    platform.enable()
    M, start, count = np.array([[0.5, 0.25], [0.125, 1.5]]), np.array([1.0, 2.0]), 60
    x = [Fraction(value) for value in start]
    for _ in range(count):
        x = [sum(Fraction(entry) * value for entry, value in zip(row, x, strict=True)) for row in M]
    literal = math.log(sum(value**2 for value in x)) / 2
    with platform.precision("float64"):
        found = float(log_of_power(jnp.asarray(M), jnp.asarray(start), count))
    terms = count * (2 + 4) + count  # gamma_(d + 4) a step, and the sum of the logarithms
    assert abs(found - literal) <= terms * UNIT * (1 + abs(literal))


def test_kaczmarz_keeps_the_last_pair(tokens):
    platform.enable()
    with platform.precision("float64"):
        guesses, W = kaczmarz(jnp.asarray(tokens[:-1]), jnp.asarray(tokens[1:]))
        assert np.all(np.asarray(W[0]) == 0) and np.all(np.asarray(guesses[0]) == 0)
        kept = np.asarray(W[1:]) @ tokens[:-2, :, None]
        assert np.abs(kept[..., 0] - tokens[1:-1]).max() <= 64 * UNIT


def test_reflections_and_the_spectrum_of_the_circle():
    platform.enable()
    with platform.precision("float64"):
        Omega = np.asarray(reflected(jnp.asarray(np.random.default_rng(1).normal(size=(4, 4)))))
        assert np.abs(Omega @ Omega.T - np.eye(4)).max() <= 4 * 64 * UNIT
        assert np.all(np.asarray(reflected(jnp.zeros((1, 3)))) == np.eye(3))
        start = np.ones(4) / 2
        assert np.abs(np.asarray(orbit(jnp.asarray(Omega), jnp.asarray(start), 3))[2] - Omega @ Omega @ start).max() < (
            64 * UNIT
        )
        expected = iv(np.arange(25), 1.0) * np.where(np.arange(25) == 0, 1, 2)
        assert np.abs(np.asarray(circle_spectrum(24)) / expected - 1).max() <= 2000 * UNIT  # exp of logs up to 80


@pytest.mark.parametrize("exponential", [0, 1])
def test_residuals_and_substitution_find_one_limit(tokens, exponential):
    platform.enable()
    K, targets = kernel(jnp.asarray(tokens[:-1] @ tokens[:-1].T), exponential), jnp.asarray(tokens[1:])
    one, other = by_residuals(K, targets), fixed_point(K, targets)
    # Both are off by at most 2 T gamma_T ||u||, see substituted; sums by halves are less.
    T, norm = len(K), float(jnp.linalg.norm(other))
    assert float(jnp.abs(one - other).max()) <= 2 * 2 * T * 2 * T * UNIT * norm
