"""Sobol points: as even as the theorem says, in every coordinate and in the first three together, and uniform."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import special

from theorax.exact.sobol_points import _primitive, sobol_points


@pytest.mark.parametrize("dimension", [1, 2, 5, 40])
def test_each_coordinate_of_a_power_of_two_lies_once_in_every_cell(dimension: int, rng: np.random.Generator) -> None:
    points = sobol_points(dimension, 1024, rng)
    assert points.shape == (1024, dimension) and ((points >= 0) & (points < 1)).all()
    cells = np.sort((points * 1024).astype(int), axis=0)
    assert (cells == np.arange(1024)[:, None]).all()


@pytest.mark.parametrize(
    ("dimension", "t"), [(2, 0), (3, 1), (4, 3)]
)  # degrees 0, 1, 2, 3 less one, of those above zero
def test_boxes_of_halvings_hold_equally_many_points(dimension: int, t: int, rng: np.random.Generator) -> None:
    m = 8
    points = sobol_points(dimension, 2**m, rng)
    for halvings in itertools.product(range(m - t + 1), repeat=dimension):
        if sum(halvings) == m - t:
            boxes = (points * 2.0 ** np.array(halvings)).astype(int)
            assert (np.unique(boxes, axis=0, return_counts=True)[1] == 2**t).all()


def test_any_number_of_points_is_the_beginning_of_more() -> None:
    few, more = (sobol_points(7, number, np.random.default_rng(5)) for number in (37, 64))
    assert np.array_equal(few, more[:37])
    assert sobol_points(3, 1, np.random.default_rng(5)).shape == (1, 3)


def test_one_point_is_uniform(rng: np.random.Generator) -> None:
    firsts = np.sort([sobol_points(2, 4, rng)[3, 1] for _ in range(2000)])
    distance = np.abs(firsts - np.arange(2000) / 2000).max()
    assert special.kolmogorov(distance * np.sqrt(2000)) > 1e-4


def test_primitive_polynomials_are_as_many_as_is_known() -> None:
    """phi(2^s - 1) / s of degree s."""
    degrees = [polynomial.bit_length() - 1 for polynomial in _primitive(1 + 1 + 2 + 2 + 6 + 6 + 18 + 16)]
    assert [degrees.count(degree) for degree in range(1, 9)] == [1, 1, 2, 2, 6, 6, 18, 16]
