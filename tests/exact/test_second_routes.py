"""Second routes of computations: they agree with what is true and speak against what is not, wherever it is asked."""

import pytest
import sympy
from sympy import E, Limit, Rational, Symbol, cos, pi, sqrt

from theorax.exact.second_routes import second_route

x = Symbol("x")


@pytest.mark.parametrize("direction", ["+", "-", "+-"])
@pytest.mark.parametrize("place", [0, Rational(1, 3), sqrt(2), pi, -E, pi**2 - sqrt(3)], ids=str)
def test_a_limit_is_looked_at_at_any_finite_place(place, direction):
    node = Limit((1 - cos(x - place)) / (x - place) ** 2, x, place, direction)
    assert second_route(node, Rational(1, 2)).agrees is True
    assert second_route(node, Rational(1, 3)).agrees is False


def test_a_limit_at_a_place_that_is_a_letter():
    a = Symbol("a", positive=True)
    node = Limit((x**2 - a) / (x - sqrt(a)), x, sqrt(a), "+")
    assert second_route(node, 2 * sqrt(a)).agrees is True
    assert second_route(node, sympy.sqrt(a)).agrees is False
