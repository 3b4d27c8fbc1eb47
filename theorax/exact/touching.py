r"""Functions of one number that touch zero: neighbourhoods of exact zeros on which they are nowhere negative.

No subdivision decides the sign beside a zero. If $f(p) = f'(p) = \dots = f^{(k-1)}(p) = 0$ exactly, Taylor's formula gives
$f(x) = f^{(k)}(\xi) (x - p)^k / k!$, so the sign of $f^{(k)}$ on an interval around p decides: positive on the right of p;
on the left positive for even k, negative for odd k.

**Errors:** none. The zeros are those of exact algebra at a rational point, and a ball of 512 bits must hold zero there too;
the sign of $f^{(k)}$ is that of a ball.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import sympy
from flint import fmpq

from theorax.errors import TheoraxError
from theorax.exact.enclosures import Box, Enclosure, fraction
from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive
from theorax.numerics.arithmetics.symbolic import Symbolic

__all__ = ["valleys_of"]

ORDER = 6
"""The highest derivative that is tried."""

POINTS = 8
"""Points that are tried; a function that touches zero at more is left open."""

NEAR = (2**20, 2**10)
"""A zero lies within one of these parts of the domain of the boxes that are left: the flatter, the wider they are."""

DENOMINATOR = 1000
HALVINGS = 30
PRECISION = 128
_FINE = 512


def valleys_of(function: Enclosure, domain: Box, left: Iterable[Box]) -> tuple[Box, ...]:
    """Intervals around exact zeros near these boxes on which the function is nowhere negative."""
    if function.dimension != 1:
        return ()
    low, high = domain.sides[0]
    points: list[fmpq] = []
    sides = [box.sides[0] for box in left]
    for part in NEAR:
        near, found = (high - low) / part, list[fmpq]()
        # Boxes of one zero lie side by side: one of them is enough.
        for a, b in sides:
            if any(a - near <= point <= b + near for point in found):
                continue
            if (point := _simplest(max(low, a - near), min(high, b + near))) is not None:
                found.append(point)
            if len(found) >= POINTS:
                break
        points += [point for point in found if point not in points]
    return tuple(valley for point in points if (valley := _valley(function, point, low, high)) is not None)


def _simplest(low: fmpq, high: fmpq) -> fmpq | None:
    """The rational of the smallest denominator between two others; None where it is a large one."""
    for denominator in range(1, DENOMINATOR):
        numerator = math.ceil(fraction(low * denominator))
        if numerator <= fraction(high * denominator):
            return fmpq(numerator, denominator)
    return None


def _valley(function: Enclosure, point: fmpq, low: fmpq, high: fmpq) -> Box | None:
    derivative: Enclosure | None = function
    for order in range(ORDER + 1):
        if derivative is None:
            return None
        try:
            zero = _is_zero(derivative, point)
        except (UndecidedComparison, UnsupportedPrimitive, TheoraxError, TypeError, ValueError, NotImplementedError):
            return None
        if not zero:
            return _with_sign(derivative, order, point, low, high) if order else None
        derivative = derivative.gradient
    return None


def _is_zero(function: Enclosure, point: fmpq) -> bool:
    if not function.at([point], _FINE).contains(0):
        return False
    value = function.in_arithmetic(Symbolic(), [sympy.Rational(int(point.p), int(point.q))])
    return bool(value == 0 or sympy.simplify(value) == 0)


def _with_sign(derivative: Enclosure, order: int, point: fmpq, low: fmpq, high: fmpq) -> Box | None:
    """The largest interval tried, within the ends, on which this derivative keeps the function from being negative."""
    reach = high - low
    for _ in range(HALVINGS):
        left, right = max(low, point - reach), min(high, point + reach)
        sides = [
            (side, sign) for side, sign in (((point, right), 1), ((left, point), (-1) ** order)) if side[0] < side[1]
        ]
        try:
            if all(derivative.over([side], PRECISION).value * sign > 0 for side, sign in sides):
                return Box(((left, right),))
        except UndecidedComparison:
            pass
        reach = reach / 2
    return None
