"""Integrals of SymPy expressions in balls: a rigorous quadrature, and what an infinite or singular end cuts off it."""

from __future__ import annotations

import flint
from flint import acb, arb
from sympy import Expr, Symbol, oo

from theorax.exact.complex_balls import Function, complex_ball_of, function_of
from theorax.numerics.arithmetics.expressions import Point, UnsupportedExpression

_QUADRATURE = 128
"""Bits of a quadrature: near an end that was moved to infinity numbers differ by e^(-60), which is 2^(-87)."""

_GOAL = arb(2) ** -32
_NARROW = arb(2) ** -24
"""Radius at which a value of no relative accuracy, zero for instance, is taken."""

_EVALUATIONS = 10_000
_AT_ONCE = 1_000
"""Evaluations of an integrand: at most, and before a singularity at an end is taken for the reason of their number."""

_NEARER = (30, 20, 12, 8, 6, 5, 4)
_REACH = 60
"""An infinite end, or one with a singularity, is moved to infinity by exp; the integral is taken up to here."""


def integral(function: Expr, variable: Symbol, low: Expr, high: Expr, point: Point) -> tuple[acb, arb | None]:
    """A ball of the integral at the point, and an estimate of what was cut off; None where nothing was.

    Ends that are infinite or singular are moved to infinity, where the integral is cut off far out.

    **Errors:** inside the ball where nothing was cut off. A ball that is not finite says that no value was found.

    **Raises:** ``UnsupportedExpression`` for an integrand without an enclosure at complex numbers.
    """
    with flint.ctx.workprec(_QUADRATURE):
        f = function_of(function, variable, point, 2 * _QUADRATURE)
        ends = [None if abs(end) is oo else _end(end, point) for end in (low, high)]
        if ends[0] is None and ends[1] is None:
            halves = [_moved(g, arb(0), None) for g in (f, lambda z, analytic: f(-z, analytic))]
            return halves[0][0] + halves[1][0], halves[0][1] + halves[1][1]
        if ends[0] is None:
            assert ends[1] is not None
            return _moved(lambda z, analytic: f(-z, analytic), -ends[1], None)
        if ends[1] is not None and _is_narrow(direct := _integral(f, ends[0], ends[1], _AT_ONCE)):
            return direct, None
        return _moved(f, ends[0], ends[1])


def _end(end: Expr, point: Point) -> arb:
    value = complex_ball_of(end, point, _QUADRATURE)
    if not value.imag.is_zero():
        raise UnsupportedExpression("Integral", f"its end {end} is no real number")
    return value.real


def _is_narrow(value: acb) -> bool:
    rad = value.real.rad() + value.imag.rad()
    return bool(value.is_finite() and (value.rel_accuracy_bits() > 20 or rad < _NARROW))


def _integral(f: Function, low: arb, high: arb, evaluations: int) -> acb:
    return acb.integral(f, low, high, rel_tol=_GOAL, abs_tol=_GOAL, eval_limit=evaluations)


def _moved(f: Function, low: arb, high: arb | None) -> tuple[acb, arb]:
    """The integral with both ends moved to infinity, over [-60, 60].

    What is cut off is estimated by a geometric series: the last value, times one over the rate of its decay.
    """

    def onto(u: acb) -> tuple[acb, acb]:
        grown = u.exp()
        if high is None:
            return low + grown, grown
        share = 1 / (1 + 1 / grown)
        return low + (high - low) * share, (high - low) * share / (1 + grown)

    def g(u: acb, analytic: bool) -> acb:
        place, factor = onto(u)
        return f(place, analytic) * factor

    cut, ends = arb(0), [_end_of_numbers(g, side) for side in (-1, 1)]
    for end in ends:
        last, before = (abs(g(acb(place), False)) for place in (end, end - (1 if end > 0 else -1)))
        if last.is_zero() or last < arb(2) ** -(2 * _QUADRATURE):
            continue
        if not last < before:
            return acb("nan"), arb(0)
        cut += last / (before / last).log()
    return _integral(g, arb(ends[0]), arb(ends[1]), _EVALUATIONS), cut


def _end_of_numbers(g: Function, side: int) -> int:
    """The distance at which the integrand is still a number: e^60 is too large for some functions."""
    for reach in (_REACH, *_NEARER):
        if all(g(acb(side * place), False).is_finite() for place in (reach, reach - 1)):
            return side * reach
    return side * _REACH
