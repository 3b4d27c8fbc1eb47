"""Causal kernel descent and its relatives against literal formulas."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import solve_triangular
from scipy.special import iv

from theorax.numerics import platform
from theorax.numerics.causal_descent import circle_spectrum, descent, fixed_point, kaczmarz, kernel, orbit, reflected

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
