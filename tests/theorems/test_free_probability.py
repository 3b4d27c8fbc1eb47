"""Free probability on paper against laws whose moments and edges are known."""

from __future__ import annotations

from sympy import Symbol, catalan, solve, sqrt

from theorax.theorems.mind_the_gap._free import edge_condition, free_moment, inverse_of_edge, least_stationary, z

g = Symbol("g")


def test_the_law_of_ratio_one_has_catalan_moments_and_the_edge_four():
    S = 1 / (1 + z)
    assert [free_moment(S, k).doit() for k in range(1, 6)] == [catalan(k) for k in range(1, 6)]
    (place,) = solve(edge_condition(S), z)
    assert inverse_of_edge(S).subs(z, place) == 4


def test_the_least_stationary_point_of_an_inverse_is_where_the_edge_is():
    """The semicircle of variance two, R = 2 g; and the law of ratio one, R = 1/(1 - g), whose other edge is at zero."""
    digits = 10.0**-15  # of twenty that are asked for
    for inverse, place, edge in ((1 / g + 2 * g, 1 / sqrt(2), 2 * sqrt(2)), (1 / g + 1 / (1 - g), 0.5, 4)):
        found = least_stationary(inverse, g)
        assert abs(found - place) < digits
        assert abs(inverse.subs(g, found) - edge) < digits
