"""A declared class checks its own mathematics, and says what to write instead."""

import math

import pytest
import sympy

from theorax.decide.corrections import Corrections, Expansion
from theorax.errors import StatementError

REFUSED = [
    ({"slowest": 0}, "no range of decaying powers"),
    ({"slowest": 3}, "no range of decaying powers"),
    ({"size": -1}, "is negative"),
    ({"size": math.inf}, "unbounded size"),
    ({"free": (0,), "reason": "x"}, "does not decay"),
    ({"free": (1, 1), "order": 2, "reason": "x"}, "names a power twice"),
    ({"free": (1,), "reason": "x"}, "no smaller than its last known term"),
    ({"rest": 0.1, "order": 0, "reason": "x"}, "does not decay"),
    ({"size": "large"}, "is not a number"),
    ({"size": math.nan}, "is not a number"),
    ({"size": 0.1}, "gives no reason"),
    ({"slowest": 1}, "gives no reason"),
    ({"rest": 0}, "gives no reason"),
]


@pytest.mark.parametrize(("given", "because"), REFUSED)
def test_what_cannot_be_meant_is_refused_in_three_parts(given, because):
    with pytest.raises(StatementError, match=because) as refusal:
        Corrections(**given)
    assert "Write" in str(refusal.value)


def test_default_rest_is_the_second_order_of_a_logarithm():
    default = Corrections()
    assert default.remainder == default.size**2 / 2
    assert default.remainder_order == 2 * default.slowest
    assert not default.is_sharper


def test_numbers_may_be_symbolic():
    width = Expansion((1,), rest=sympy.Rational(3, 10), order=sympy.Integer(2), reason="layer sums")
    assert width == Corrections(size=0, rest=0.3, order=2, free=(1,), reason="layer sums")


def test_an_expansion_owes_a_rest_and_an_order():
    with pytest.raises(TypeError):
        Expansion((1,), reason="polynomial in 1/n")


REDESIGNS = [
    (Corrections(), False, [(1.0, 0.5)]),
    (Corrections(), True, [(1.0, 0.5), (0.75, 0.4)]),
]


@pytest.mark.parametrize(("declared", "refuted", "expected"), REDESIGNS)
def test_redesigns_enlarge_the_size_and_keep_the_rest(declared, refuted, expected):
    larger = declared.redesigns(refuted)
    assert [(c.size, c.slowest) for c in larger] == expected
    assert {(c.remainder, c.remainder_order) for c in larger} == {(declared.remainder, declared.remainder_order)}


def test_without_size_rest_and_power_are_doubled():
    declared = Expansion((1,), rest=0.3, order=2, reason="smooth steps")
    assert [c.remainder for c in declared.redesigns(False)] == [0.6]
    assert [c.log for c in Corrections(size=0, rest=0, log=1, reason="Markov chain").redesigns(True)] == [2.0]
    assert Corrections(size=0, rest=0, reason="exact").redesigns(True) == ()
