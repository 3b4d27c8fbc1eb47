"""Pieces of the range of a ReLU network, and the pairs of them that three measurements confuse."""

import numpy as np
import pytest

from theorax.theorems.gnn_compressed_sensing._relu_range import Pieces, collisions, pieces


def network(rng, hidden=5, outputs=12):
    W, V = rng.normal(size=(hidden, 2)), rng.normal(size=(outputs, hidden))
    V[0] = np.abs(V[0])
    return W, V


def moved(rng, array):
    """Every entry by one unit in the last place, to either side."""
    return np.nextafter(array, np.where(rng.random(array.shape) < 0.5, np.inf, -np.inf))


@pytest.mark.parametrize("seed", range(40))
def test_colliding_pairs_do_not_hang_on_the_last_bits(seed):
    """Pieces of rank one left minors of mere rounding, which lay in the cones as often as not."""
    rng = np.random.default_rng(seed)
    W, V = network(rng)
    M = rng.normal(size=(3, 12))
    before = collisions(pieces((W, V)), M)
    for _ in range(4):
        after = collisions(pieces((moved(rng, W), moved(rng, V))), moved(rng, M))
        assert after.tolist() == before.tolist()


def test_a_pair_that_collides_is_found_with_two_points_of_one_image(rng):
    """Two planes in space under three rows whose kernel meets both: the points are known beforehand."""
    first, second = rng.normal(size=(2, 6, 2))
    one, other = np.array([1.0, 2.0]), np.array([-1.0, 3.0])  # inside of the first quadrant, and of the second
    gap = first @ one - second @ other
    M = rng.normal(size=(3, 6))
    M -= np.outer(M @ gap, gap) / (gap @ gap)
    parts = Pieces(np.array([0.0, np.pi / 2, np.pi]), np.stack([first, second]))
    assert collisions(parts, M).tolist() == [[0, 1]]
    assert not len(collisions(parts, rng.normal(size=(3, 6)) + 10 * np.outer([1, 0, 0], gap)))


def test_a_ray_and_a_plane_never_collide(rng):
    """Together they have three dimensions, on which three Gaussian rows are injective."""
    ray = np.outer(rng.normal(size=6), rng.normal(size=2))
    for _ in range(200):
        parts = Pieces(np.array([0.0, np.pi / 2, np.pi]), np.stack([ray, rng.normal(size=(6, 2))]))
        assert not len(collisions(parts, rng.normal(size=(3, 6))))
