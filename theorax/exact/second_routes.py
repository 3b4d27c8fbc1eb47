"""A second way to each result of computer algebra: integrals, sums, products, limits, derivatives at exact points.

No route shares code with the first one. Some are rigorous (a quadrature between finite ends, finite sums); others estimate
their own error from two of their values, and are evidence. A route that cannot be taken is no objection.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import flint
import sympy
from flint import arb
from sympy import Derivative, Expr, Integral, Limit, Product, Subs, Sum, Symbol, oo

from theorax.errors import UsageError
from theorax.exact.poles import special_points
from theorax.exact.quadrature import integral
from theorax.exact.zero import admissible, is_zero
from theorax.numerics.arithmetics.expressions import UnsupportedExpression, ball_of
from theorax.numerics.arithmetics.failures import UndecidedComparison

POINTS = 2
"""Exact points of the parameters at which a result is computed a second time."""

_ATTEMPTS = 200
"""Draws until the result is a real number at so many points."""

_PRECISION = 160
_KINKS = 20
"""Points of the parameters at which both sides of a place are looked at."""
_ASIDE = (48, 96)
"""Differences beside a place are taken with steps of 2^-k."""

_FAR = (4, 8, 16, 32, 64, 128, 256, 512)
"""A limit is looked at along 2^k and 2^k + 1 (or at that distance from a finite place), k doubling."""

_MANY = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Partial sums of a series that are held against its value."""

_CUT_OFF = "balls of a quadrature, what an infinite or singular end cuts off estimated (evidence)"

_FAILURES = (UnsupportedExpression, UndecidedComparison, UsageError, ZeroDivisionError, ValueError, OverflowError)


@dataclass(frozen=True)
class SecondRoute:
    """Result of computing something once more.

    ``agrees`` is None where the route could not be taken. ``told`` names the route, or says why there is none.
    ``left_open``: it was taken and does not tell, at a place where a formula may give a number and be wrong.
    """

    agrees: bool | None
    told: str
    left_open: bool = False


@dataclass(frozen=True)
class _Value:
    """A number by the second route: what it is, and how far it may be off if that is an estimate and no bound."""

    ball: arb
    off: arb = arb(0)  # noqa: RUF009  (a number, never changed)
    named: str = ""  # the route, where this value says more of it than its table

    def holds(self, other: arb) -> bool | None:
        """Is this the other number? None where that cannot be said."""
        if not (self.ball.is_finite() and self.off.is_finite() and other.is_finite()):
            return None
        room = (self.ball.rad() + other.rad() + self.off).upper()
        if abs(self.ball.mid() - other.mid()) > room:
            return False
        # A route as wide as the number itself has seen nothing of it.
        seen = room < abs(other.mid()) / 16 or (other.mid().is_zero() and room < arb(2) ** -16)
        return True if seen else None


Route = Callable[[Any, Expr, dict[Symbol, Any]], _Value]


def second_route(node: Expr, value: Expr) -> SecondRoute:
    """Compute the unevaluated node a second time, and hold the value of the first against it."""
    value = sympy.sympify(value)
    if isinstance(node, Integral) and len(node.limits[0]) == 1:
        return _differentiated(node, value)
    name, route = _ROUTES[type(node)]
    if isinstance(node, Sum | Product) and any(end in (oo, -oo) for end in node.limits[0][1:]):
        name, route = "partial sums in balls, along their number (evidence)", _series
    if isinstance(node, Limit):
        return _approached(node, value)
    checked, why = 0, "its value is a real number at no point tried"
    for special, point in _every_point(node, value):
        if special and isinstance(node, Integral) and _constant_there(node, value, point):
            return SecondRoute(False, f"the integrand is a constant, whose integral has another value,{_at(point)}")
        try:
            here = ball_of(value, point, _PRECISION)
            if not here.is_finite():
                continue
            second = route(node, value, point)
            name, holds = second.named or name, second.holds(here)
        except _FAILURES as error:
            why = str(error)
            continue
        if holds is False:
            return SecondRoute(False, f"{name} give another value{_at(point)}")
        if special:
            continue
        checked += bool(holds)
        why = why if holds else "the second value is too wide to tell"
        if checked == POINTS or not point:
            break
    told = f"{name}" + (f", at {checked} point{'s' * (checked > 1)}" if value.free_symbols | node.free_symbols else "")
    if isinstance(node, Sum) and _telescopes(node, value):
        return SecondRoute(True, f"{told}, and the telescoping difference" if checked else "the telescoping difference")
    return SecondRoute(True, told) if checked else SecondRoute(None, why)


def one_sided(node: Subs, value: Expr) -> SecondRoute | None:
    """Differences of a function to the right and to the left of the place where its derivative was taken by a formula.

    At a kink the formula has a value and the function no derivative. None where both sides tend to the value.
    """
    (derivative, variables, places) = node.args
    if len(variables) != 1 or [variable for variable, _ in derivative.variable_count] != list(variables):
        return None
    ((variable, count),) = derivative.variable_count
    left_open = None
    for point in itertools.islice(_points(node, value), _KINKS):
        place = places[0].subs(point)
        for side, which in ((1, "to the right"), (-1, "to the left"), (0, "on both sides")):
            told = f"differences {which} of {variable} = {place}"
            try:
                holds = _tends_beside(derivative.expr, variable, int(count), value, place, side, point)
            except _FAILURES:
                continue
            if holds is False:
                return SecondRoute(False, f"{told} give another value")
            if holds is None:
                left_open = SecondRoute(None, f"{told} do not tell", left_open=True)
    return left_open


def _tends_beside(
    expression: Expr, variable: Symbol, order: int, value: Expr, place: Expr, side: int, point: dict[Symbol, Any]
) -> bool | None:
    """Do differences to one side (0: to both) get nearer to the value as their step is squared?

    False where they come no nearer. Their own difference is no bound: at a jump it grows with them. From steps of 2^-48 to
    2^-96 the distance falls to 1/2 for a slope reached like 1/log h, and stays at a kink: above 9/10 is no approach.
    """
    off = []
    for power in _ASIDE:
        bits, step = 128 + power * (order + 4), sympy.Integer(2) ** -power
        # A central difference so far aside begins at the place itself; it errs like the step.
        beside = {**point, variable: place + side * sympy.Rational(order, 2) * step}
        off.append(abs(_difference(expression, [(variable, order)], beside, step, bits) - ball_of(value, point, bits)))
    if not all(distance.is_finite() for distance in off):
        return True  # no number on this side speaks for or against it
    before, last = off
    if last.contains(0) or last < before * arb("0.6"):
        return True
    return False if last > before * arb("0.9") else None


def _constant_there(node: Integral, value: Expr, point: dict[Symbol, Any]) -> bool:
    """Is the integrand a constant at the point, and its integral surely another number than the value?"""
    variable, low, high = node.limits[0]
    constant, here = node.function.subs(point), value.subs(point)
    off = here - constant * (high - low).subs(point)
    return bool(not off.has(variable) and here.is_finite and off.is_finite and is_zero(off).refuted)


def _every_point(node: Expr, value: Expr) -> Iterator[tuple[bool, dict[Symbol, Any]]]:
    """Special points of the parameters, which can only speak against the value, and then those that are drawn."""
    letters = sorted(node.free_symbols | value.free_symbols, key=str)
    if letters and isinstance(node, Limit | Integral | Sum):
        yield from ((True, point) for point in special_points(letters))
    yield from ((False, point) for point in _points(node, value))


def _points(node: Expr, value: Expr) -> Iterator[dict[Symbol, Any]]:
    symbols = sorted(node.free_symbols | value.free_symbols, key=str)
    draws = random.Random(0)
    if isinstance(node, Sum | Product) and any(symbol.is_integer and symbol.is_nonnegative for symbol in symbols):
        # Closed forms of sums fail first where the sum is empty or has one term.
        least = {symbol: sympy.Integer(bool(symbol.is_positive)) for symbol in symbols
                 if symbol.is_integer and symbol.is_nonnegative}  # fmt: skip
        yield {symbol: least.get(symbol, admissible(symbol, None, draws)) for symbol in symbols}
    for _ in range(_ATTEMPTS if symbols else 1):
        yield {symbol: admissible(symbol, None, draws) for symbol in symbols}


def _at(point: dict[Symbol, Any]) -> str:
    return " at " + ", ".join(f"{letter} = {number}" for letter, number in point.items()) if point else ""


def _differentiated(node: Integral, value: Expr) -> SecondRoute:
    found = is_zero(value.diff(node.limits[0][0]) - node.function)
    if found.refuted:
        return SecondRoute(False, f"its derivative is not the integrand{_at(dict(found.point))}")
    if found.proved:
        return SecondRoute(True, f"its derivative, by {found.reason}")
    return SecondRoute(None, found.reason)


def _quadrature(node: Integral, value: Expr, point: dict[Symbol, Any]) -> _Value:
    variable, low, high = node.limits[0]
    ball, cut = integral(node.function, variable, low, high, point)
    return _Value(ball) if cut is None else _Value(ball, cut, _CUT_OFF)


def _terms(node: Expr, value: Expr, point: dict[Symbol, Any]) -> _Value:
    return _Value(ball_of(node, point, _PRECISION))


def _series(node: Expr, value: Expr, point: dict[Symbol, Any]) -> _Value:
    index, low, _ = node.limits[0]
    partial = [ball_of(type(node)(node.function, (index, low, low + count)), point, _PRECISION) for count in _MANY]
    return _extrapolated(partial)


def _extrapolated(values: list[arb]) -> _Value:
    """The last of a sequence, off by at most twice the last step: what decays like 1/k or faster, k doubling, is."""
    return _Value(values[-1], 2 * abs(values[-1] - values[-2]))


def _telescopes(node: Sum, value: Expr) -> bool:
    """The value at n + 1 less that at n is the last term, and at the first n it is the first term."""
    index, low, high = node.limits[0]
    for letter in sorted(high.free_symbols - low.free_symbols - node.function.free_symbols, key=str):
        if (high - letter).free_symbols:
            continue
        first = letter + low - high
        step = value.subs(letter, letter + 1) - value - node.function.subs(index, high + 1)
        start = value.subs(letter, first) - node.function.subs(index, low)
        try:
            return is_zero(step).proved and is_zero(start).proved
        except UsageError:
            return False
    return False


def _approached(node: Limit, value: Expr) -> SecondRoute:
    expression, variable, place, direction = node.args
    name, seen, why = "balls along the limit (evidence)", 0, "its value is a real number at no point tried"
    for special, point in _every_point(node, value):
        try:
            courses = [_course(expression, variable, where, point) for where in _ways(place, str(direction), point)]
            agrees = [
                _grows(course, value) if value in (oo, -oo) else _tends(course, value, point) for course in courses
            ]
        except _FAILURES as error:
            why = str(error)
            continue
        if False in agrees:
            return SecondRoute(False, f"{name} tend elsewhere{_at(point)}")
        if special:
            continue
        if None in agrees:
            why = "the values along it do not tell"
            continue
        seen += 1
        if seen == POINTS or not point:
            break
    told = f"{name}" + (f", at {seen} point{'s' * (seen > 1)}" if node.free_symbols else "")
    return SecondRoute(True, told) if seen else SecondRoute(None, why)


def _ways(place: Expr, direction: str, point: dict[Symbol, Any]) -> list[list[Expr]]:
    two = sympy.Integer(2)
    if place in (oo, -oo):
        sign = 1 if place is oo else -1
        return [[sign * (two**k + more) for k in _FAR] for more in (0, 1)]
    here = place.subs(point)
    signs = {"+": (1,), "-": (-1,)}.get(direction, (1, -1))
    return [[here + sign * two**-k for k in _FAR] for sign in signs]


def _course(expression: Expr, variable: Symbol, places: list[Expr], point: dict[Symbol, Any]) -> list[arb]:
    found: list[arb] = []
    for where in places:
        # Differences of numbers of size 2^k cancel: four times as many bits stay for every one of them.
        bits = 128 + 16 * _FAR[len(found)]
        value = ball_of(expression, {**point, variable: ball_of(where, {}, 2 * bits)}, bits)
        if not value.is_finite() or value.rad() > arb(2) ** -32 * (1 + abs(value.mid())):
            break
        found.append(value)
    if len(found) < 4:
        raise UnsupportedExpression("Limit", "too few values along it are known")
    return found


def _tends(course: list[arb], value: Expr, point: dict[Symbol, Any]) -> bool | None:
    limit = ball_of(value, point, 4096)
    if not limit.is_finite():
        return None
    last, before, earlier = course[-1], course[-2], course[-3]
    off, step, former = abs(last - limit), abs(last - before), abs(before - earlier)
    # Two balls compare for certain or not at all: only a distance that is larger for certain speaks against the limit.
    if not off.abs_lower() > 2 * step.abs_upper():
        # Twice the last step says something if the steps shrink.
        return True if step < former or step.contains(0) else None
    return False if step < former / 2 or step.contains(0) else None


def _grows(course: list[arb], value: Expr) -> bool | None:
    sign = 1 if value is oo else -1
    last, before = sign * course[-1], sign * course[-2]
    return True if last > 0 and last > before * arb("1.5") else (False if last < 0 or last < before else None)


def _differences(node: Derivative, value: Expr, point: dict[Symbol, Any]) -> _Value:
    """Central differences of the highest order asked for, at two steps; their difference is larger than the error."""
    bits = sum(int(count) for _, count in node.variable_count)
    found = []
    for step in (-48, -49):
        h = sympy.Integer(2) ** step
        found.append(_difference(node.expr, list(node.variable_count), point, h, 128 + 64 * (bits + 4)))
    return _Value(found[1], abs(found[1] - found[0]))


def _difference(expression: Expr, counts: list[Any], point: dict[Symbol, Any], h: Expr, precision: int) -> arb:
    if not counts:
        return ball_of(expression, point, precision)
    (variable, count), *others = counts
    order, total = int(count), arb(0)
    if variable not in point:  # the expression does not hold it: every difference is zero
        return total
    with flint.ctx.workprec(precision):
        for i in range(order + 1):
            where = {**point, variable: point[variable] + (sympy.Rational(order, 2) - i) * h}
            weight = arb((-1) ** i * int(sympy.binomial(order, i)))
            total += weight * _difference(expression, others, where, h, precision)
        return total / ball_of(h, {}, precision) ** order


def _inserted(node: Subs, value: Expr, point: dict[Symbol, Any]) -> _Value:
    given = dict(point)
    for variable, where in zip(node.variables, node.point, strict=True):
        given[variable] = ball_of(where, point, 2 * _PRECISION)
    return _Value(ball_of(node.expr, given, _PRECISION))


_ROUTES: dict[type, tuple[str, Route]] = {
    Integral: ("balls of a quadrature", _quadrature),
    Sum: ("its terms added in balls", _terms),
    Product: ("its factors multiplied in balls", _terms),
    Derivative: ("central differences in balls (evidence)", _differences),
    Subs: ("its value in balls", _inserted),
    Limit: ("balls along the limit (evidence)", _terms),
}
