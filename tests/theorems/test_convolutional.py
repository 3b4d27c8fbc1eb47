"""Convolutional networks: the sum as it is written, inside the padding as without it, and frames of filters."""

import jax
import jax.numpy as jnp
import numpy as np

from theorax.numerics import platform
from theorax.numerics.extents import Extent
from theorax.numerics.keys import root
from theorax.theorems.pseudo_iid_gp import _weight_matrices as weight_matrices
from theorax.theorems.pseudo_iid_gp._convolutional import Filters, convolution, convolutional_network

platform.enable()
SIZE, PADDED, TAPS, PIXELS = 4, 6, 3, 8


def network(unfolded=Filters.TAP_BY_TAP):
    return convolutional_network(
        root(5),
        2,
        TAPS,
        Extent(SIZE, PADDED),
        2,
        weight_matrices.MENU.index("gaussian"),
        1.0,
        jax.nn.relu,
        2.0,
        0.1,
        unfolded,
    )


def test_the_sum_as_it_is_written():
    rng = np.random.default_rng(1)
    U, f = rng.normal(size=(TAPS, 3, 2)), rng.normal(size=(2, PIXELS))
    literal = np.zeros((3, PIXELS))
    for i in range(3):
        for mu in range(PIXELS):
            literal[i, mu] = sum(U[beta, i, j] * f[j, (mu + beta) % PIXELS] for j in range(2) for beta in range(TAPS))
    # Six products of numbers below 16, and their sum.
    assert np.abs(np.asarray(convolution(jnp.asarray(U), jnp.asarray(f))) - literal).max() < 8 * 6 * 16 * 2.0**-53


def test_layers_follow_one_another_and_the_padding_stays_zero():
    net = network()
    h = np.asarray(net(jnp.ones((2, PIXELS)).at[0, 3].set(-2.0)))
    assert h.shape == (3, PADDED, PIXELS)
    assert not h[:, SIZE:].any()
    again = convolution(net.hidden[1], net.activated(jnp.asarray(h[1]))) + net.biases[2][:, None]
    assert np.array_equal(np.asarray(again), h[2])


def test_rows_of_unfolded_filters_are_orthonormal():
    """Over all taps, with squared length sigma_w^2 times the taps: entries have variance sigma_w^2/C."""
    for U in np.asarray(network(Filters.FRAME).hidden):
        rows = np.moveaxis(U, 1, 0).reshape(PADDED, -1)[:SIZE]
        assert np.abs(rows @ rows.T / (2.0 * TAPS) - np.eye(SIZE)).max() <= (TAPS * SIZE) ** 2 * 2.0**-50
        assert not U[:, SIZE:].any()
        assert not U[:, :, SIZE:].any()


def test_signs_of_fixed_sums_run_over_all_taps():
    """Twelve entries in a row: sums of 12 signs next to their root are 2 and 4; entries are sigma_w over the root of C."""
    for U in np.asarray(network(Filters.FIXED_SUMS).hidden) / np.sqrt(2.0 / SIZE):
        assert not U[:, SIZE:].any()
        assert not U[:, :, SIZE:].any()
        meant = U[:, :SIZE, :SIZE]
        # A product of three roots and a quotient, each of them rounded.
        assert np.abs(np.abs(meant) - 1).max() <= 8 * 2.0**-53
        sums = np.abs(meant.sum((0, 2)))
        assert np.minimum(np.abs(sums - 2), np.abs(sums - 4)).max() <= TAPS * SIZE * 2.0**-50
    assert len(np.unique(np.sign(network(Filters.FIXED_SUMS).hidden[:, :, :SIZE, :SIZE]))) == 2
