"""Random weight matrices: what each law promises of every draw, inside the padding as without it."""

import jax
import numpy as np
import pytest

from theorax.numerics import platform, weights
from theorax.numerics.extents import Extent
from theorax.numerics.keys import root

platform.enable()
SIZE, PADDED = 16, 24
SHARES = {"low rank": 0.25, "fixed rank": 2.0, "blocks": 4.0, "masked": 0.5}


def draw(law, seed, padded=PADDED):
    place, share = np.int32(weights.MENU.index(law)), SHARES.get(law, 1.0)
    return np.asarray(weights.weights(root(seed), Extent(SIZE, padded), place, share))


@pytest.mark.parametrize("law", weights.MENU)
def test_entries_have_variance_one_over_n_inside_the_block_and_are_zero_outside(law):
    program = jax.jit(
        jax.vmap(
            lambda key: weights.weights(
                key, Extent(SIZE, PADDED), np.int32(weights.MENU.index(law)), SHARES.get(law, 1.0)
            )
        )
    )
    W = np.asarray(program(jax.random.split(root(7), 400)))
    assert not W[:, SIZE:].any()
    assert not W[:, :, SIZE:].any()
    squares = (SIZE * W[:, :SIZE, :SIZE] ** 2).mean(axis=(1, 2))
    # Five standard errors of 400 independent matrices; exact where every matrix has the same norm.
    assert abs(squares.mean() - 1) <= 5 * squares.std(ddof=1) / 20 + SIZE * 2.0**-50


def test_orthogonal_laws_are_orthogonal():
    for law in ("haar", "hadamard"):
        W = draw(law, 3)[:SIZE, :SIZE]
        assert np.abs(W @ W.T - np.eye(SIZE)).max() <= SIZE**2 * 2.0**-50


def test_ranks_blocks_and_sums():
    assert np.linalg.matrix_rank(draw("low rank", 1)) == 4
    assert np.linalg.matrix_rank(draw("fixed rank", 1)) == 2
    kept = draw("blocks", 1)[:SIZE, :SIZE] != 0
    assert (kept.sum(0) == SIZE // 4).all()
    assert (kept.sum(1) == SIZE // 4).all()
    assert len(np.unique(kept, axis=0)) == 4
    rows = draw("conditioned rademacher", 1)[:SIZE, :SIZE]
    assert np.abs(np.abs(rows.sum(1)) - 1).max() <= SIZE * 2.0**-52
    assert set(np.abs(rows).ravel()) == {1 / np.sqrt(SIZE)}
