"""Means over two normal variables against the arcsine kernel, which has a closed form."""

import math

import numpy as np
import pytest
from scipy.special import erf

from theorax.theorems.pseudo_iid_gp._normal_pairs import mean_of_product


@pytest.mark.parametrize(("first", "second", "covariance"), [(1.0, 1.0, 0.5), (0.4, 2.5, -0.7), (1.5, 1.5, 1.5)])
def test_the_arcsine_kernel(first, second, covariance):
    exact = 2 / math.pi * math.asin(2 * covariance / math.sqrt((1 + 2 * first) * (1 + 2 * second)))
    # 217^2 terms of at most one in a sum of total weight one, each with a few roundings.
    assert abs(mean_of_product(erf, first, second, covariance) - exact) < 217**2 * 8 * 2.0**-53


def test_independent_variables_of_an_odd_function():
    assert abs(mean_of_product(np.tanh, 1.0, 2.0, 0.0)) < 217**2 * 8 * 2.0**-53
