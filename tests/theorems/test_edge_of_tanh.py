"""The means that the edge of chaos of tanh is certified by: their rule, its error, and the curve against differences."""

import math

import jax.numpy as jnp
import pytest
from sympy import Function, Rational, Symbol, simplify

from theorax.numerics import platform
from theorax.theorems.pseudo_iid_gp import _gaussian_means as gaussian_means
from theorax.theorems.pseudo_iid_gp._moments import bell, bell_error, bell_slopes, tanh_curve

platform.enable()
VARIANCES = (Rational(1, 4), Rational(3, 4), Rational(4, 3))


@pytest.mark.parametrize("q", VARIANCES)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_bells_are_the_means_that_they_are_named_after(k, q):
    computed = float(gaussian_means.mean(lambda x: jnp.cosh(x) ** (-2.0 * k), float(q)))
    declared = float(gaussian_means.mean_error(math.pi / 4, 2.0**k, float(q)))
    assert abs(float(bell(k, q).doit().evalf(20)) - computed) <= declared + float(bell_error(k, q))


def test_the_declared_error_is_that_of_the_rule_in_floats():
    """Both bounds are 2 M e^(b^2/2)/(e^(2 pi b m) - 1) beside their tails, at the same b where the strip decides it."""
    m, b = bell.PER_UNIT, math.pi / 4
    rule = 2 * 4 * math.exp(b**2 / 2) / math.expm1(2 * math.pi * b * m)
    tail = 2 * math.exp(-(bell.REACH**2) / 2) / (bell.REACH * math.sqrt(2 * math.pi))
    # Three exponentials of up to thirty, each with a relative error of its argument's rounding.
    assert abs(float(bell_error(2, Rational(1))) / (rule + tail) - 1) <= 3 * 32 * 2.0**-52


@pytest.mark.parametrize("power", [1, 2])
def test_the_slope_of_the_curve_is_its_derivative(power):
    q, means = Symbol("q", positive=True), [Function(f"f{k}") for k in (1, 2, 3)]
    _, curve, slope = (part.replace(bell, lambda k, at: means[k - 1](at)) for part in tanh_curve(q, (0, 0, 0), power))
    rises = bell_slopes(*(f(q) for f in means))
    derivative = curve.diff(q).subs({f(q).diff(q): rise for f, rise in zip(means, rises, strict=False)})
    assert simplify(derivative - slope) == 0
