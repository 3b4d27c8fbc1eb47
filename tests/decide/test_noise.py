"""The tail of a Gaussian norm: never below the truth, and near it."""

import math

import numpy as np
import pytest
from scipy.special import chdtrc

from theorax.decide.gaussian_norm import NoiseNorm

RADII = np.sqrt([0.1, 1.0, 3.0, 10.0, 30.0, 60.0])


@pytest.mark.parametrize("count", [1, 2, 3, 6, 20, 80])
def test_equal_eigenvalues_are_a_chi_square(count):
    noise = NoiseNorm(np.full(count, 0.25))
    for radius in RADII:
        exact = float(chdtrc(count, (2 * radius) ** 2))
        found = noise.p(float(radius))
        assert exact * (1 - 1e-9) <= found <= exact * (1 + 1e-9) + 3e-9


def hypoexponential(rates, x):
    """Pairs of equal eigenvalues: a sum of independent exponentials, in closed form."""
    return math.fsum(
        math.exp(-rate * x) * math.prod(other / (other - rate) for other in rates if other != rate) for rate in rates
    )


@pytest.mark.parametrize("pairs", [(1.0, 0.5), (1.0, 0.5, 0.1), (1.0, 0.7, 0.4, 0.1, 0.01)])
def test_pairs_of_eigenvalues_are_sums_of_exponentials(pairs):
    noise = NoiseNorm(np.repeat(pairs, 2))
    for radius in RADII:
        exact = hypoexponential([1 / (2 * value) for value in pairs], float(radius) ** 2)
        assert exact - 1e-12 <= noise.p(float(radius)) <= exact + 2e-6


def test_few_and_uneven_directions_against_draws(rng):
    """Bounds for noise of one strong direction and some weak ones: above the truth, by less than draws can tell."""
    values = np.array([1.0, 0.5, 0.01, 0.001])
    squares = rng.standard_normal((200_000, 4)) ** 2 @ values
    for level in (0.3, 0.025, 0.001):
        share = float((squares >= NoiseNorm(values).quantile(level) ** 2).mean())
        assert abs(share - level) < 4.5 * math.sqrt(level / 200_000)


def test_a_quantile_is_where_p_reaches_the_level():
    noise = NoiseNorm(0.5 ** np.arange(30))
    for level in (0.3, 0.025, 1e-4, 1e-7):
        q = noise.quantile(level)
        assert noise.p(q) <= level < noise.p(q * (1 - 2e-6))
    assert [noise.p(r) for r in RADII] == sorted((noise.p(r) for r in RADII), reverse=True)


def test_no_noise():
    silent = NoiseNorm.of(np.zeros((3, 3)))
    assert (silent.quantile(0.025), silent.p(1e-300), silent.p(0.0)) == (0.0, 0.0, 1.0)


def test_a_tiny_p_is_a_bound_that_suits_a_long_suite():
    noise = NoiseNorm(0.8 ** np.arange(40))
    exact_side = noise.p(noise.quantile(1e-8))
    assert 0 < exact_side <= 1e-8
    assert noise.p(100.0) < 1e-100
