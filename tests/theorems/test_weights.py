"""Random weight matrices: what each law promises of every draw, inside the padding as without it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorax.numerics import platform
from theorax.numerics.extents import Extent
from theorax.numerics.keys import root
from theorax.theorems.pseudo_iid_gp import _weight_matrices as weight_matrices

platform.enable()
SIZE, PADDED = 16, 24
SHARES = {
    "low rank": 0.25,
    "fixed rank": 2.0,
    "blocks": 4.0,
    "masked": 0.5,
    "fan-in": 4.0,
    "still blocks": 4.0,
    "scaled": 0.5,
}


@jax.jit
def compiled(keys, size, place, share):
    return jax.vmap(lambda key: weight_matrices.weights(key, Extent(size, PADDED), place, share))(keys)


def draws(law, seed, count, size=SIZE):
    place, share = np.int32(weight_matrices.MENU.index(law)), SHARES.get(law, 1.0)
    return np.asarray(compiled(jax.random.split(root(seed), count), size, place, share))[:, :size, :size]


def draw(law, seed):
    return draws(law, seed, 1)[0]


@pytest.mark.parametrize("law", weight_matrices.MENU)
def test_entries_have_variance_one_over_n_inside_the_block_and_are_zero_outside(law):
    place, share = np.int32(weight_matrices.MENU.index(law)), SHARES.get(law, 1.0)
    W = np.asarray(compiled(jax.random.split(root(7), 400), SIZE, place, share))
    assert not W[:, SIZE:].any()
    assert not W[:, :, SIZE:].any()
    squares = (SIZE * W[:, :SIZE, :SIZE] ** 2).mean(axis=(1, 2))
    # Five standard errors of 400 independent matrices; exact where every matrix has the same norm.
    assert abs(squares.mean() - 1) <= 5 * squares.std(ddof=1) / 20 + SIZE * 2.0**-50


def test_orthogonal_laws_are_orthogonal():
    for law in ("haar", "hadamard"):
        W = draw(law, 3)
        assert np.abs(W @ W.T - np.eye(SIZE)).max() <= SIZE**2 * 2.0**-50


def test_ranks_blocks_and_sums():
    assert np.linalg.matrix_rank(draw("low rank", 1)) == 4
    assert np.linalg.matrix_rank(draw("fixed rank", 1)) == 2
    kept = draw("blocks", 1) != 0
    assert (kept.sum(0) == SIZE // 4).all()
    assert (kept.sum(1) == SIZE // 4).all()
    assert len(np.unique(kept, axis=0)) == 4
    rows = draw("conditioned rademacher", 1)
    assert np.abs(np.abs(rows.sum(1)) - 1).max() <= SIZE * 2.0**-52
    assert set(np.abs(rows).ravel()) == {1 / np.sqrt(SIZE)}


def test_rows_of_a_fixed_sum_where_no_sum_is_the_root():
    """n = 12: sums of 12 signs are even, 2 and 4 with squares 4 and 16; a third of the rows has 2, two thirds 4."""
    sums = draws("conditioned rademacher", 1, 200, size=12).sum(2).ravel() * np.sqrt(12)
    assert set(np.abs(np.round(sums, 9))) == {2.0, 4.0}
    share = (np.abs(sums) > 3).mean()
    assert abs(share - 2 / 3) <= 5 * np.sqrt(2 / 9 / len(sums))


def test_what_shares_a_scale_a_sum_or_a_block():
    kept = draw("still blocks", 1) != 0
    assert np.array_equal(kept, np.kron(np.eye(4), np.ones((4, 4))) > 0)
    norms = (SIZE * draws("scaled", 1, 20) ** 2).mean((1, 2))
    # A mean of 256 squares lies within five standard errors, 5 sqrt(2/256) = 0.44 relatively, of 1/2 or of 3/2.
    assert np.minimum(abs(norms / 0.5 - 1), abs(norms / 1.5 - 1)).max() <= 0.45
    columns = draws("correlated columns", 1, 200)
    products = SIZE * (columns[:, 0, 0] * columns[:, 1, 0])
    assert abs(products.mean() - 0.25) <= 5 * products.std(ddof=1) / np.sqrt(200)


def test_a_program_of_few_laws_holds_these_and_no_other():
    among, key, n = ("haar", "masked"), root(5), Extent(SIZE, PADDED)
    for law in (*among, "uniform"):
        place, share = jnp.int32(weight_matrices.MENU.index(law)), jnp.asarray(SHARES.get(law, 1.0))
        W = np.asarray(weight_matrices.weights(key, n, place, share, among))
        alone = np.asarray(weight_matrices.weights(key, n, place, share))
        np.testing.assert_array_equal(W, alone if law in among else np.full_like(W, np.nan))
