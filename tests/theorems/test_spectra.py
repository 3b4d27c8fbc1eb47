"""Leading triplets, their audit and the tail sums, held against the full decomposition.

The reference is numpy's decomposition of the float64 matrix, whose error is not taken from its authors but measured in
extended precision on what it returned: see ``reference``.
"""

# ruff: noqa: E402  (the precision is set before anything is traced)
import math

import equinox as eqx
import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np
import pytest

from theorax.numerics.rounding import (
    blocked_gram,
    blocked_products,
    blocked_terms,
    blocked_transposed_products,
    gamma,
)
from theorax.theorems.mind_the_gap._lanczos import SingularTriplets, leading_singular_triplets, pseudo_gaussian
from theorax.theorems.mind_the_gap._spectra import (
    audit_index,
    enclosed_singular_values,
    excess_of_stable_rank,
    frobenius_tail,
    inertia_audit,
    singular_values,
    stable_rank,
    tail_power,
    top_and_tail,
)

TOLERANCE = 1e-6
EPS = np.finfo(np.float64).eps
DTYPES = (np.float32, np.float64)
triplets_of = jax.jit(leading_singular_triplets, static_argnames=("k", "tolerance", "max_steps"))
audit = jax.jit(audit_index, static_argnames=("index", "resolution"))


def markov(rng, n):
    A = rng.exponential(size=(n, n))
    return A / A.sum(axis=1, keepdims=True)


def gaussian(rng, n):
    return rng.normal(size=(n, n))


def close_pair(rng, n):
    """Values 1, 1 - 1e-3, and the rest below one half."""
    U, _ = np.linalg.qr(rng.normal(size=(n, n)))
    V, _ = np.linalg.qr(rng.normal(size=(n, n)))
    s = np.concatenate([[1.0, 1.0 - 1e-3], np.sort(rng.uniform(0, 0.5, n - 2))[::-1]])
    return (U * s) @ V.T


def rank_one(rng, n):
    return np.outer(rng.normal(size=n), rng.normal(size=n))


FAMILIES = {"markov": markov, "gaussian": gaussian, "close_pair": close_pair, "rank_one": rank_one}
SEEDS = range(12)
SIZE = 96


def draw(family, seed, dtype, n=SIZE):
    return FAMILIES[family](np.random.default_rng([seed, n]), n).astype(dtype)


def reference(A):
    """Singular values, and what they may be off by: `enclosed_singular_values` says why, here in extended precision.

    With u the unit roundoff of ``longdouble``, whatever that is on this platform: the residual of k terms rounds by
    (k + 2) u of its majorant, at most 2 sum(s) + |A|, the defect of m terms by (m + 1) u of 2k; 4 u for the norms' own.
    """
    wide, A = np.longdouble, np.asarray(A, np.float64)
    U, s, Vt = (part.astype(wide) for part in np.linalg.svd(A, full_matrices=False))
    k, grain = len(s), (max(A.shape) + 4) * np.finfo(wide).eps / 2
    left = np.linalg.norm(A.astype(wide) - (U * s) @ Vt) + grain * (2 * s.sum() + np.linalg.norm(A))
    defects = [np.linalg.norm(gram - np.eye(k, dtype=wide)) + grain * 2 * k for gram in (U.T @ U, Vt @ Vt.T)]
    assert max(defects) < 1
    return s.astype(np.float64), float(left + sum(defects) * s[0])


def exact(A):
    """The reference where its error is no matter: for thresholds, or beside tolerances that are far larger."""
    return reference(A)[0]


def selected(triplets, *positions):
    """The triplets at these positions, in this order: a way to plant a wrong index."""
    pick = jnp.array(positions)
    return SingularTriplets(
        *(part[pick] for part in (triplets.values, triplets.left, triplets.right, triplets.residuals)),
        triplets.passes,
        triplets.converged,
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_no_residual_is_violated_over_a_table_of_seeds(family, dtype):
    violations = []
    for seed in SEEDS:
        A = draw(family, seed, dtype)
        found = triplets_of(jnp.asarray(A))
        s, slack = reference(A)
        off = np.abs(np.asarray(found.values, np.float64) - s[:2])
        assert found.converged
        assert found.values.dtype == dtype
        if (off > np.asarray(found.residuals, np.float64) + slack).any():
            violations.append((seed, off, found.residuals))
    assert not violations


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", ["markov", "gaussian", "close_pair"])
def test_values_are_of_second_order_in_the_residual(family, dtype):
    # Within the tolerance that was asked for, plus the rounding of s = ||A v|| stated in the docstring.
    grain = gamma(blocked_terms(SIZE) + 8, dtype)
    for seed in SEEDS:
        A = draw(family, seed, dtype)
        found = triplets_of(jnp.asarray(A), tolerance=TOLERANCE)
        s, slack = reference(A)
        allowed = TOLERANCE * s[:2] + grain * (np.linalg.norm(A) + 4 * s[:2]) + slack
        assert (np.abs(np.asarray(found.values, np.float64) - s[:2]) <= allowed).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_stated_residual_covers_the_one_of_exact_products(family, dtype):
    A = draw(family, 0, dtype)
    found = triplets_of(jnp.asarray(A))
    wide = np.longdouble
    M, s = A.astype(wide), np.asarray(found.values).astype(wide)
    for i in range(2):
        u, v = (np.asarray(part[i]).astype(wide) for part in (found.left, found.right))
        u, v = u / np.sqrt(u @ u), v / np.sqrt(v @ v)
        a, b = M @ v - s[i] * u, M.T @ u - s[i] * v
        assert np.sqrt((a @ a + b @ b) / 2) <= wide(found.residuals[i])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("padded", [100, 128])
def test_zero_padding_is_harmless(family, dtype, padded):
    A = draw(family, 3, dtype)
    filled = np.zeros((padded, padded), dtype)
    filled[:SIZE, :SIZE] = A
    plain, zeros = triplets_of(jnp.asarray(A)), triplets_of(jnp.asarray(filled))
    s = exact(A)
    # Both lie near the same exact value: no further apart than the two tolerances and roundings together.
    grain = gamma(blocked_terms(padded) + 8, dtype) * (np.linalg.norm(A) + 4 * s[:2])
    assert (np.abs(np.asarray(plain.values - zeros.values)) <= 2 * (TOLERANCE * s[:2] + grain)).all()
    assert zeros.converged
    assert not np.asarray(zeros.left[:, SIZE:]).any()
    assert not np.asarray(zeros.right[:, SIZE:]).any()
    s, slack = reference(A)
    values, off = map(np.asarray, enclosed_singular_values(jnp.asarray(filled)))
    assert (np.abs(values[:SIZE] - s) <= off[:SIZE] + slack).all()
    assert (values[SIZE:] <= off[SIZE:]).all()


def test_start_vector_does_not_know_the_padding():
    assert (pseudo_gaussian(50, 0, jnp.float32) == pseudo_gaussian(80, 0, jnp.float32)[:50]).all()
    g = np.asarray(pseudo_gaussian(4096, 5, jnp.float64))
    # Mean and mean square of 4096 normals, at five standard errors.
    assert abs(g.mean()) <= 5 / np.sqrt(4096)
    assert abs((g**2).mean() - 1) <= 5 * np.sqrt(2 / 4096)


def test_an_identity_closes_the_krylov_space_at_once_and_is_still_solved():
    found = triplets_of(jnp.eye(20))
    assert (np.abs(np.asarray(found.values) - 1) <= np.asarray(found.residuals)).all()
    assert found.converged
    assert audit(jnp.eye(20), found, 1)


def test_a_zero_matrix_has_zero_values_and_a_missing_triplet_an_infinite_residual():
    zero = triplets_of(jnp.zeros((10, 10)))
    assert not np.asarray(zero.values).any()
    assert zero.converged
    single = triplets_of(jnp.zeros((10, 10)).at[0, 0].set(3.0))
    assert single.values[0] == 3.0
    assert np.isinf(single.residuals[1])
    assert not single.converged


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_a_scale_changes_nothing_but_the_scale(scale):
    A = draw("markov", 1, np.float32)
    one, other = triplets_of(jnp.asarray(A)), triplets_of(jnp.asarray(A * np.float32(scale)))
    bound = np.asarray(one.residuals) + np.asarray(other.residuals) / scale
    # The scaled matrix is itself rounded: one unit of its Frobenius norm.
    rounded = np.finfo(np.float32).eps * np.linalg.norm(A)
    assert (np.abs(np.asarray(one.values) - np.asarray(other.values) / scale) <= bound + rounded).all()


def test_an_exhausted_basis_is_reported_and_its_residuals_stay_true():
    A = draw("gaussian", 0, np.float64)
    found = triplets_of(jnp.asarray(A), max_steps=5)
    s, slack = reference(A)
    assert not found.converged
    for value, residual in zip(found.values, found.residuals, strict=True):
        assert np.abs(s - float(value)).min() <= float(residual) + slack


def test_rectangular_matrices_maps_and_batches_agree():
    A = jnp.asarray(np.random.default_rng(0).normal(size=(4, 60, 40)))
    mapped = jax.lax.map(leading_singular_triplets, A)
    batched = jax.vmap(leading_singular_triplets)(A)
    for i in range(4):
        s, slack = reference(A[i])
        for found in (mapped, batched):
            off = np.abs(np.asarray(found.values[i]) - s[:2])
            assert (off <= np.asarray(found.residuals[i]) + slack).all()


def test_matrices_followed_together_solve_the_small_problem_at_their_looks_alone(monkeypatch):
    """Vectorised, a choice computes both of its branches: made in every step, it would decompose in every step."""
    decompose, calls = jnp.linalg.svd, []

    def counted(small):
        jax.debug.callback(lambda: calls.append(1))
        return decompose(small)

    monkeypatch.setattr("theorax.theorems.mind_the_gap._lanczos.jnp.linalg.svd", counted)
    A = jnp.stack([jnp.asarray(markov(np.random.default_rng(seed), 200)) for seed in range(3)])
    found = jax.block_until_ready(jax.vmap(leading_singular_triplets)(A))
    jax.effects_barrier()
    steps = (found.passes.max() - 2 - 2 * 2) // 2
    # The first look is at 2 T^(1/3) = 12 steps, and two looks are two steps or more apart.
    assert 0 < len(calls) <= steps / 2


def test_too_many_triplets_are_refused():
    with pytest.raises(ValueError, match="Write 1 <= k <= 4"):
        leading_singular_triplets(jnp.ones((4, 9)), k=5)
    with pytest.raises(ValueError, match="Write 0 <= index < 2"):
        audit_index(jnp.eye(4), leading_singular_triplets(jnp.eye(4)), 2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", ["markov", "gaussian", "close_pair"])
def test_the_audit_confirms_right_indices_and_rejects_planted_ones(family, dtype):
    for seed in SEEDS:
        A = jnp.asarray(draw(family, seed, dtype))
        found = triplets_of(A, k=3)
        assert all(audit(A, found, i) for i in range(3))
        assert not audit(A, selected(found, 0, 2), 1), "s_3 was accepted as the second"
        assert not audit(A, selected(found, 1, 2), 0), "s_2 was accepted as the first"
        assert not audit(A, selected(found, 0, 0), 1), "s_1 was accepted twice"


def test_the_audit_is_not_fooled_by_stated_residuals():
    A = jnp.asarray(draw("markov", 0, np.float64))
    found = triplets_of(A)
    fake = eqx.tree_at(lambda t: t.values, found, found.values.at[1].mul(1.1))
    assert not audit(A, fake, 1)


@pytest.mark.parametrize("family", ["markov", "gaussian"])
def test_inertia_counts(family):
    for seed in SEEDS:
        A = jnp.asarray(draw(family, seed, np.float64))
        found = triplets_of(A, k=3)
        s = exact(A)
        for count in (1, 2):
            result = inertia_audit(A, (s[count - 1] + s[count]) / 2, found)
            assert result.certified
            assert result.count == count
        # The third value lies above too, but the triplets at hand do not explain it.
        assert not inertia_audit(A, (s[2] + s[3]) / 2, selected(found, 0, 1)).certified
        assert inertia_audit(A, 1.01 * s[0]).certified
        assert not inertia_audit(A, 0.99 * s[0]).certified


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("power", [2, 4])
@pytest.mark.parametrize("family", FAMILIES)
def test_tail_powers_hold_their_bound(family, power, dtype):
    for seed in SEEDS:
        A = jnp.asarray(draw(family, seed, dtype))
        s, off = reference(A)
        tail = tail_power(A, triplets_of(A), power)
        literal = np.sum(s[1:] ** power)
        slack = (np.sum((s[1:] + off) ** power)) - literal
        assert abs(float(tail.value) - literal) <= float(tail.error) + slack


def test_tail_powers_are_sharp_enough_to_be_of_use():
    A = jnp.asarray(draw("markov", 0, np.float64))
    tail = tail_power(A, triplets_of(A))
    # Linear in the residual: 4 y^3 * 2 sqrt(2) rho is the leading term, the rest is rounding and higher order.
    assert float(tail.error) <= 1e-9 * float(tail.value)
    with pytest.raises(ValueError, match="Write power=2 or power=4"):
        tail_power(A, triplets_of(A), 3)


@pytest.mark.parametrize("family", FAMILIES)
def test_top_and_tail_hold_their_bounds(family):
    A = jnp.asarray(draw(family, 0, np.float64))
    s, slack = reference(A)
    top, top_error, tail, tail_error = map(float, jax.jit(top_and_tail)(A))
    assert abs(top - s[0]) <= top_error + slack
    literal = np.sum(s[1:] ** 4)
    assert abs(tail - literal) <= tail_error + np.sum((s[1:] + slack) ** 4) - literal


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("factors", [1, 3, 5])
def test_an_enclosure_holds_values_that_are_known_exactly(factors, dtype):
    """[[3, 0], [4, 5]] has the values sqrt(45) and sqrt(5), a product of such their products 5^(n/2) 3^j."""
    A = np.array([[1.0]])
    for _ in range(factors):
        A = np.kron(A, [[3, 0], [4, 5]])
    values, off = enclosed_singular_values(jnp.asarray(A, dtype))
    known = sorted((math.comb(factors, j) * [5 ** (factors / 2) * 3**j] for j in range(factors + 1)), reverse=True)
    known = np.concatenate(known)
    # The known values are computed within a few units of double precision.
    assert (np.abs(np.asarray(values, np.float64) - known) <= np.asarray(off, np.float64) + 8 * EPS * known).all()
    # Of some use: with n = 2^factors the derived terms are about 3.5 n^2 eps of the first value, the measured ones n eps.
    assert (np.asarray(off) <= 40 * 4**factors * np.finfo(dtype).eps * known[0]).all()


def test_an_enclosure_knows_a_decomposition_that_is_none(monkeypatch):
    A = jnp.asarray(draw("gaussian", 0, np.float64))
    U, s, Vt = jnp.linalg.svd(A)
    monkeypatch.setattr(jnp.linalg, "svd", lambda A, full_matrices: (U, s * (1 + 1e-6), Vt))
    off = enclosed_singular_values(A)[1]
    assert (off >= 1e-6 * s[0]).all()
    monkeypatch.setattr(jnp.linalg, "svd", lambda A, full_matrices: (U.at[:, 3].set(U[:, 4]), s, Vt))
    assert not np.isfinite(enclosed_singular_values(A)[1]).any()


def test_functionals_of_a_spectrum():
    s = jnp.array([2.0, 1.0, 1.0, 0.0])
    assert stable_rank(s) == 1.5
    assert excess_of_stable_rank(s) == 0.125
    assert excess_of_stable_rank(s, power=2) == 0.5
    # A root of an exact two, rounded once.
    assert abs(float(frobenius_tail(s)) - np.sqrt(2)) <= np.finfo(float).eps * np.sqrt(2)
    assert frobenius_tail(s[:1]) == 0
    assert (jnp.diff(singular_values(jnp.asarray(draw("gaussian", 0, np.float64)))) <= 0).all()


@pytest.mark.parametrize("n", [1, 5, 64, 100, 300])
def test_blocked_sums_hold_their_bound(n):
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n, n)).astype(np.float32)
    x = rng.normal(size=(2, n)).astype(np.float32)
    wide = A.astype(np.float64)
    bound = gamma(blocked_terms(n), np.float32) * np.linalg.norm(wide) * np.linalg.norm(x, axis=1)
    products = np.asarray(blocked_products(jnp.asarray(A), jnp.asarray(x)))
    assert (np.linalg.norm(products - x @ wide.T, axis=1) <= bound).all()
    products = np.asarray(blocked_transposed_products(jnp.asarray(A), jnp.asarray(x)))
    assert (np.linalg.norm(products - x @ wide, axis=1) <= bound).all()
    gram = np.asarray(blocked_gram(jnp.asarray(A)))
    assert np.linalg.norm(gram - wide.T @ wide) <= gamma(256 + 2, np.float32) * np.linalg.norm(wide) ** 2
