"""Bounds of arrays at points: what balls certify, what one point refutes, what they leave open."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from theorax.decide.status import Reason, Status
from theorax.exact.pointwise_bounds import bounded_at_points
from theorax.numerics.arithmetics import UndecidedComparison, UnsupportedPrimitive

UPPER = np.asarray([1.0, 2.0])


def point(left):
    """The entries, to be at most 1 and 2."""
    return lambda balls: [(balls.lift(np.asarray(left)), balls.lift(UPPER))]


def nothing(balls):
    """Two sides without an entry."""
    return [(balls.lift(np.ones(0)), balls.lift(np.ones(0)))]


def thirds(balls):
    """A third, three times, against one: balls that hold the bound."""
    with balls.working():
        third = balls.binary("div", balls.lift(np.ones(1)), balls.lift(np.full(1, 3.0)))
        return [(balls.binary("mul", third, balls.lift(np.full(1, 3.0))), balls.lift(np.ones(1)))]


def raising(error):
    def sides(balls):
        raise error

    return sides


@pytest.mark.parametrize(
    ("points", "slack", "status", "reason"),
    [
        ([point([0.5, 1.0]), point([1.0, 2.0])], 0, Status.CERTIFIED, None),
        ([point([0.5, 1.0]), nothing], 0, Status.INCONCLUSIVE, Reason.NOT_DECIDABLE_YET),
        ([point([0.5, 1.0]), point([1.0, 2.0 + 2.0**-50])], 0, Status.REFUTED, None),
        ([thirds], 0, Status.INCONCLUSIVE, Reason.UNDECIDED_COMPARISON),
        ([thirds], Fraction(1, 10**9), Status.CERTIFIED, None),
        ([point([0.0, 0.0]), raising(UnsupportedPrimitive("svd", "ball"))], 0, Status.INCONCLUSIVE, Reason.BUDGET),
        ([raising(UndecidedComparison("lt"))], 0, Status.INCONCLUSIVE, Reason.UNDECIDED_COMPARISON),
        ([], 0, Status.INCONCLUSIVE, Reason.UNDECIDED_COMPARISON),
    ],
)
def test_a_bound_at_points_decides_as_its_table_says(points, slack, status, reason) -> None:
    found = bounded_at_points([(f"point {k}", sides) for k, sides in enumerate(points)], Fraction(slack))
    assert (found.status, found.reason) == (status, reason)


def test_what_refutes_is_named_and_ends_the_search() -> None:
    found = bounded_at_points([("the second", point([2.0, 0.0])), ("the third", point([9.0, 0.0]))])
    assert found.detail.startswith("the second exceeds the bound by 1:")
    assert found.nearest == 1.0
    assert found.shares == (2.0, 0.0)
