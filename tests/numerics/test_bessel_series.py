"""The series of Bessel functions is theirs, and that of pi gives it to the precision of balls."""

# ruff: noqa: E402  (the precision is set before anything is traced)
import jax

jax.config.update("jax_enable_x64", True)

import flint
import jax.numpy as jnp
import numpy as np
import pytest
from flint import arb
from scipy.special import iv

from theorax.numerics.arithmetics import Ball, evaluate
from theorax.numerics.bessel_series import bessel_i, circle_number


@pytest.mark.parametrize("x", [0.1, 1 / np.sqrt(2), 2.0])
def test_orders_agree_with_scipy(x):
    orders = (0, 1, 2, 6, 18)
    # Positive terms: some hundred roundings of the value itself, in either of the two.
    assert np.allclose(bessel_i(orders, jnp.asarray(x)), iv(orders, x), rtol=100 * 2**-52, atol=0)


def test_zero_is_in_the_range():
    assert np.array_equal(bessel_i((0, 3), jnp.asarray(0.0)), [1, 0])


def test_pi_is_known_to_the_precision_of_balls():
    found = evaluate(circle_number, (), Ball(256)).item()
    assert found.overlaps(arb.pi())
    with flint.ctx.workprec(256):
        assert (found - arb.pi()).contains(0)
        assert found.rad() < arb(2) ** -240
    assert abs(float(circle_number()) - np.pi) < 20 * 2**-52 * np.pi
