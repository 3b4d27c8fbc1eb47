"""Laws given by an equation of their Stieltjes transform, against the same laws given by a density."""

import numpy as np
import pytest
from sympy import Integer, Rational, Symbol, binomial, cos, pi, simplify, sin, sqrt, symbols

from theorax.errors import StatementError
from theorax.language import AlgebraicLaw, Image

x, g = symbols("x g")
a = Symbol("a", positive=True)
semicircle = AlgebraicLaw(a**2 * g**2 - x * g + 1, x, g)
# The Marchenko-Pastur law of ratio one is not symmetric, and its density is infinite at zero.
marchenko_pastur = AlgebraicLaw(x * g**2 - x * g + 1, x, g)
u = Symbol("u", real=True)
DENSITIES = {
    "semicircle": (semicircle, Image(2 * a * sin(u), u, 2 * cos(u) ** 2 / pi, (-pi / 2, pi / 2))),
    "Marchenko-Pastur": (marchenko_pastur, Image(4 * sin(u) ** 2, u, 4 * cos(u) ** 2 / pi, (Integer(0), pi / 2))),
}
FREQUENCIES = np.linspace(0.05, 12, 24)


@pytest.mark.parametrize("name", DENSITIES)
def test_both_forms_have_one_characteristic_function(name):
    algebraic, image = DENSITIES[name]
    # Two integrals, each carried on until it is known to 2^-36.
    difference = algebraic.characteristic(FREQUENCIES, {a: 0.7}) - image.characteristic(FREQUENCIES, {a: 0.7})
    assert np.max(np.abs(difference)) < 2 * 2.0**-36


@pytest.mark.parametrize("name", DENSITIES)
@pytest.mark.parametrize("power", [0, 1, 2, 3, 4])
def test_both_forms_have_the_same_moments(name, power):
    algebraic, image = DENSITIES[name]
    assert simplify(algebraic.moment(power) - image.moment(power)) == 0


def test_moments_of_the_marchenko_pastur_law_are_catalan_numbers():
    for k in range(1, 7):
        assert marchenko_pastur.moment(k) == binomial(2 * k, k) / (k + 1)


def test_scaling_stretches_the_variable():
    scaled = semicircle.scaled(sqrt(Rational(11, 10)))
    assert simplify(scaled.moment(4) - Rational(121, 100) * semicircle.moment(4)) == 0
    stretched = semicircle.characteristic(FREQUENCIES * np.sqrt(1.1), {a: 0.7})
    assert np.max(np.abs(scaled.characteristic(FREQUENCIES, {a: 0.7}) - stretched)) < 2 * 2.0**-36


def test_a_gap_in_the_support_does_not_lose_the_root():
    # Half of the mass at each of +1 and -1.
    atoms = AlgebraicLaw((x**2 - 1) * g - x, x, g)
    assert np.max(np.abs(atoms.characteristic(FREQUENCIES, {}) - np.cos(FREQUENCIES))) < 2.0**-36


@pytest.mark.parametrize("equation", [g**2 - x * g + 2, sqrt(g) - x])
def test_what_is_no_equation_of_a_law_is_refused(equation):
    with pytest.raises(StatementError):
        AlgebraicLaw(equation, x, g)
