"""Regressions on keys: their data, their matrix, its inverse, what meets every target, and sums over heads."""

# ruff: noqa: E402  (the precision is set before anything is traced)
import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np
import pytest

from theorax.numerics import keys as names
from theorax.numerics.extents import literal
from theorax.numerics.kernel_attention import FEATURES, LINEAR, TAYLOR, Softmax
from theorax.theorems.primal_dual_attention._kernel_regression import (
    OUTPUTS,
    QUERIES,
    FittedHeads,
    fit,
    gram,
    interpolant,
    inverse,
    points,
)

C, EPS = 10.0, 0.1


def drawn(seed=0, N=6, D=3):
    return points(names.root(seed), literal(N), literal(D))


def test_points_are_drawn_by_name():
    keys, queries, targets = drawn()
    assert (keys.shape, queries.shape, targets.shape) == ((6, 3), (QUERIES, 3), (6, OUTPUTS))
    assert all(np.array_equal(one, other) for one, other in zip(drawn(), (keys, queries, targets), strict=True))
    assert not np.array_equal(drawn(1)[0], keys)


@pytest.mark.parametrize("kernel", [Softmax(), FEATURES[TAYLOR], FEATURES[LINEAR]])
def test_the_matrix_is_that_of_normalised_features(kernel):
    keys, _, _ = drawn()
    G, h = gram(kernel, keys)
    literally = [[float(kernel.kernel(a[None], b[None])[0, 0]) for b in keys] for a in keys]
    assert np.allclose(h, np.sum(literally, 1), rtol=1e-13, atol=0)
    assert np.allclose(G, literally / np.outer(h, h), rtol=1e-13, atol=0)


def test_the_inverse_is_one_where_there_is_one():
    keys, _, y = drawn()
    for kernel in (Softmax(), FEATURES[TAYLOR]):
        G, _ = gram(kernel, keys)
        # Elimination loses what the condition is.
        assert np.allclose(G @ inverse(kernel, keys)(y), y, rtol=0, atol=100 * np.linalg.cond(G) * 2**-53)
    kernel = FEATURES[LINEAR]
    G, found = np.asarray(gram(kernel, keys)[0]), inverse(kernel, keys)(y)
    assert np.linalg.matrix_rank(G) == 3
    cond = np.linalg.svd(G)[1][0] / np.linalg.svd(G)[1][2]
    allowed = 100 * cond * 2**-53 * np.abs(found).max()
    assert np.allclose(found, np.linalg.pinv(G, rcond=1e-9) @ y, rtol=0, atol=allowed)


@pytest.mark.parametrize("free", [0.0, 1.0])
def test_the_interpolant_meets_every_target(free):
    keys, _, y = drawn()
    G, _ = gram(Softmax(), keys)
    beta, b, plain = interpolant(inverse(Softmax(), keys), y, free)
    # Elimination loses what the condition is, of coefficients and of what they meet.
    allowed = 100 * np.linalg.cond(G) * 2**-53 * float(jnp.abs(beta).max())
    assert np.allclose(G @ beta + b, y, rtol=0, atol=allowed)
    assert np.allclose(G @ plain, y, rtol=0, atol=allowed)
    if free:
        assert np.abs(beta.sum(0)).max() < allowed
    else:
        assert not np.any(b)


def test_heads_are_off_by_no_more_than_their_reach():
    keys, queries, targets = drawn()
    rng = np.random.default_rng(0)
    A, H = ([jnp.asarray(rng.normal(size=shape)) for _ in range(2)] for shape in ((2, 3), (3, OUTPUTS)))
    phi = FEATURES[TAYLOR]
    fitted = tuple(fit(phi, keys @ a.T, queries @ a.T, targets, C, EPS) for a in A)
    heads = FittedHeads(fitted, queries, tuple(A), tuple(H))
    sums, layers = heads.regressions(queries), heads.layers(C)(queries)
    literal = sum(one.regression(queries @ a.T) @ h.T for one, a, h in zip(fitted, A, H, strict=True))
    assert np.allclose(sums, literal, rtol=0, atol=1e-12)
    reach = heads.reach(C, EPS)
    assert np.all((sums - layers) ** 2 <= reach + 1e-24)
    assert float(reach.max()) < 1e-6
