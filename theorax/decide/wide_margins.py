"""Margins that leave nothing to fail: so wide that twice the claimed value passes, and half of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from theorax.decide.findings import Finding, Found
from theorax.decide.status import Side
from theorax.decide.verdict import Point

__all__ = ["NO_MEANING", "NO_MEANING_OF_EVENT", "NO_MEANING_OF_LAW", "of_zero", "passes_anything", "says_nothing"]

NO_MEANING = "twice the claimed value lies within the margin, and half of it: no order of magnitude could be wrong"
NO_MEANING_OF_LAW = "the law twice as wide lies within the margin, and the law half as wide: no spread could be wrong"
NO_MEANING_OF_EVENT = "half the claimed probability lies within the margin: an event half as frequent passes"


def passes_anything(claimed: float, margin: float, side: Side) -> bool:
    """True if twice and half the claimed value lie within the margin; never for a claim on one side, or a value of zero."""
    return side is Side.EQUAL and claimed != 0 and abs(claimed) < margin


def says_nothing(cases: Iterable[str]) -> tuple[Found, ...]:
    """The finding on a claim whose margin has no meaning in any case; ``cases``: what the plan of each says of it."""
    told = list(cases)
    if not told or not all(told):
        return ()
    return (Found(Finding.CANNOT_FAIL, f"{told[0][0].upper()}{told[0][1:]}. Write a smaller margin."),)


def of_zero(what: str, claimed: float, margin: float, points: Sequence[Point]) -> tuple[str, ...]:
    """The margin around a claimed zero in units of the observed spread of one draw; nothing where that is not known.

    >>> of_zero("limit", 0.0, 0.5, [Point(64.0, 0.0, 0.1, 400)])
    ('a limit of zero has no size of its own: the margin is 0.25 times the observed spread of one draw at the last size',)
    """
    error = points[-1].standard_error if points else None
    if claimed != 0 or not error or points[-1].draws < 2:
        return ()
    spread = error * math.sqrt(points[-1].draws)
    last = " at the last size" if points[-1].size else ""
    units = f"the margin is {margin / spread:.2g} times the observed spread of one draw{last}"
    return (f"a {what} of zero has no size of its own: {units}",)
