"""Means under the normal law: the declared error holds against closed forms, and is no larger than it must be."""

import jax.numpy as jnp
import numpy as np
import pytest

from theorax.numerics import platform
from theorax.theorems.pseudo_iid_gp import _gaussian_means as means

platform.enable()

# f, its mean at variance q, half the width of a strip and the bound of |f| in it.
CASES = {
    "cosine": (jnp.cos, lambda q: np.exp(-q / 2), 8.0, float(np.cosh(8.0))),
    "bell": (lambda x: jnp.exp(-(x**2)), lambda q: 1 / np.sqrt(1 + 2 * q), 1.0, float(np.e)),
    "constant": (jnp.ones_like, lambda q: 1.0, 1.0, 1.0),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("variance", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("per_unit", [1, 2, 4, 12])
def test_the_error_is_what_is_declared(name, variance, per_unit):
    f, exact, strip, bound = CASES[name]
    off = abs(float(means.mean(f, variance, per_unit)) - exact(variance))
    assert off <= float(means.mean_error(strip, bound, variance, per_unit))


def test_a_kink_breaks_what_is_declared():
    off = abs(float(means.mean(jnp.abs)) - np.sqrt(2 / np.pi))
    assert off > 1e6 * float(means.mean_error(1.0, 20.0, largest=10.0))


def test_at_the_usual_spacing_rounding_is_all_that_is_left():
    # tanh^2 is at most one on |Im x| <= pi/4.
    declared = float(means.mean_error(float(np.pi / 4), 1.0, 2.0))
    assert declared < 400 * 2.0**-53
