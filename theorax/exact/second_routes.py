"""A second way to each result of computer algebra: integrals, sums, products, limits, derivatives at exact points.

No route shares code with the first one. Some are rigorous (a quadrature between finite ends, finite sums); others estimate
their own error from two of their values, and are evidence. A route that cannot be taken is no objection. The two sides of
a step are compared as the author wrote them, before computer algebra has any say.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import flint
import sympy
from flint import acb, arb
from sympy import Derivative, Dummy, Expr, Integral, Limit, Product, Subs, Sum, Symbol, oo
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import Boolean

from theorax.errors import UsageError
from theorax.exact.complex_balls import complex_ball_of, computable
from theorax.exact.exceptional_points import ExceptionalPoint, admitted, exceptional_points
from theorax.exact.quadrature import integral
from theorax.exact.zero import admissible, is_zero
from theorax.numerics.arithmetics.expressions import UnsupportedExpression, ball_of
from theorax.numerics.arithmetics.failures import UndecidedComparison

UNEVALUATED = (Integral, Sum, Product, Limit, Derivative, Subs)
"""Forms that stand for a number that is still to be computed."""

POINTS = 2
"""Exact points of the parameters at which a result is computed a second time."""

_ATTEMPTS = 200
"""Draws until the result is a number at so many points."""

_FAILED = 6
"""Points at which a form has no route, or one that is too wide, until it is given up."""

_PRECISION = 160
_SEEN = 2.0**-8
"""Width, in parts of the number itself, from which on a route has seen nothing of it."""

_KINKS = 20
"""Points of the parameters at which both sides of a place are looked at."""
_ASIDE = (48, 96)
"""Differences beside a place are taken with steps of 2^-k."""

_FAR = (4, 8, 16, 32, 64, 128, 256, 512)
"""A limit is looked at along 2^k and 2^k + 1 (or at that distance from a finite place), k doubling."""

_NEAR = (2, 3, 4, 5, 6, 8, 10, 12, 14, 16)
"""The same where numbers so far are too large or too small to compute with."""

_MANY = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Partial sums of a series that are held against its value."""

_CUT_OFF = "balls of a quadrature, what an infinite or singular end cuts off estimated (evidence)"

_FAILURES = (
    UnsupportedExpression,
    UndecidedComparison,
    UsageError,
    ArithmeticError,
    ValueError,
    TypeError,
    NotImplementedError,
    RecursionError,
    sympy.PolynomialError,
)

Point = dict[Symbol, Any]


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

    ball: acb
    off: arb = arb(0)  # noqa: RUF009  (a number, never changed)
    named: str = ""  # the route, where this value says more of it than its table

    @property
    def wide(self) -> acb:
        """The ball with the estimate inside."""
        return self.ball + acb(arb(0, self.off.upper()), arb(0, self.off.upper())) if self.off > 0 else self.ball


def _same(one: acb, other: acb) -> bool | None:
    """Are these balls of one number? None where that cannot be said."""
    if not (one.is_finite() and other.is_finite()):
        return None
    gap = one - other
    if not gap.contains(0):
        return False
    room = (gap.real.rad() + gap.imag.rad()).upper()
    size = max((abs(one.mid()).upper(), abs(other.mid()).upper()), key=float)
    return True if room < size * _SEEN or room < arb(2) ** -16 else None


def second_route(node: Expr, value: Expr, where: Boolean = sympy.true) -> SecondRoute:
    """Compute the unevaluated node a second time, at points of the scope, and hold the value against it."""
    return routes_compared(node, sympy.sympify(value), where)


@cache
def routes_compared(left: Expr, right: Expr, where: Boolean = sympy.true) -> SecondRoute:
    """Compare two sides that leave something to be computed, every number in them by a second route.

    **Errors:** a refutation rests on a rigorous ball, or where the route says so on the estimate of what it leaves out.
    """
    for node, value in ((left, right), (right, left)):
        if isinstance(node, UNEVALUATED) and not value.has(*UNEVALUATED):
            if isinstance(node, Integral) and len(node.limits[0]) == 1:
                return _differentiated(node, value)
            if isinstance(node, Limit):
                return _approached(node, value, where)
            if isinstance(node, Subs) and isinstance(node.expr, Derivative):
                beside = one_sided(node, value, where)
                if beside is not None:
                    return beside
            found = _at_points(left, right, where)
            if isinstance(node, Sum) and found.agrees is not False and _telescopes(node, value):
                more = f"{found.told}, and " if found.agrees else ""
                return SecondRoute(True, f"{more}the telescoping difference")
            return found
    return _at_points(left, right, where)


def _at_points(left: Expr, right: Expr, where: Boolean) -> SecondRoute:
    symbols = sorted(left.free_symbols | right.free_symbols, key=str)
    undefined = any(map(_is_unnamed, sympy.preorder_traversal(sympy.Tuple(left, right))))
    left, right = (_with_known_functions(side) for side in (left, right))
    checked, names, why = 0, dict[str, None](), "its value is a number at no point tried"
    # Functions put in for others say nothing against a value, so that no point is exceptional for them.
    points = (
        ((False, found) for found in _points(left, right, where)) if undefined else _every_point(left, right, where)
    )
    failed = wide = 0
    for special, found in points:
        point = found.point
        if special and (slope := _one_sided_slopes(left, right, point)) is not None:
            if slope:
                continue
            return SecondRoute(False, f"differences to one side give another value at {found}")
        try:
            sides = [_side(side, point) for side in (left, right)]
            holds = _same(*(side.wide for side in sides))
        except _FAILURES as error:
            why = str(error) or type(error).__name__
            failed += isinstance(error, UnsupportedExpression)
            if failed == _FAILED:
                break
            continue
        if (
            holds is False and undefined
        ):  # what is asked of an unnamed function need not hold of the one put in its place
            return SecondRoute(None, "it may rest on what is known of the functions in it")
        told = "; ".join(dict.fromkeys(side.named for side in sides if side.named))
        if holds is False:
            return SecondRoute(False, f"{told or 'balls'} give another value{f' at {found}' if point else ''}")
        if special:
            continue
        if holds:
            checked, names = checked + 1, {**names, told: None}
        elif all(side.ball.is_finite() for side in sides):
            why, wide = "the second value is too wide to tell", wide + 1
        if checked == POINTS or wide == _FAILED or not point:
            break
    if not checked:
        return SecondRoute(None, why)
    at = f", at {checked} point{'s' * (checked > 1)}" if symbols else ""
    stands = ", with a function put in for each that is not named" if undefined else ""
    return SecondRoute(True, f"{'; '.join(names)}{at}{stands}")


def _side(side: Expr, point: Point) -> _Value:
    """The number that a side is at a point, each unevaluated form in it by its own route."""
    values: dict[Expr, _Value] = {}

    def stand_in(part: Expr) -> Expr:
        if isinstance(part, UNEVALUATED):
            values.setdefault(part, _form(part, point))
            return letters.setdefault(part, Dummy())
        if not part.has(*UNEVALUATED):
            return part
        return part.func(*map(stand_in, part.args))

    letters: dict[Expr, Dummy] = {}
    whole = stand_in(side)
    numbers = {letters[part]: _plain(value.wide) for part, value in values.items()}
    named = "; ".join(dict.fromkeys(value.named for value in values.values()))
    return _Value(complex_ball_of(whole, {**point, **numbers}, _PRECISION), named=named)


def _plain(number: acb) -> acb | arb:
    return number.real if number.imag.is_zero() else number


def _form(node: Expr, point: Point) -> _Value:
    name, route = _ROUTES[type(node)]
    if isinstance(node, Sum | Product) and any(end in (oo, -oo) for end in node.limits[0][1:]):
        name, route = "partial sums in balls, along their number (evidence)", _series
    found = route(node, point)
    return _Value(found.ball, found.off, found.named or name)


def _with_known_functions(side: Expr) -> Expr:
    """Functions without a meaning replaced by simple ones: an equality of unnamed functions holds of these too."""

    def known(call: Any) -> Expr:
        place = sum(map(ord, str(call.func)))
        terms = [(argument + 2 + sympy.Rational(i + place % 7, 5)) ** 2 for i, argument in enumerate(call.args)]
        return sum(terms, sympy.Rational(place % 11 + 1, 3))

    return side.replace(_is_unnamed, known)


def _is_unnamed(part: Any) -> bool:
    """Is it a call of a function that only the author knows?"""
    own = isinstance(part, sympy.Function) and type(part).__module__.partition(".")[0] != "sympy"
    return isinstance(part, AppliedUndef) or (own and not computable(part))


def one_sided(node: Subs, value: Expr, where: Boolean = sympy.true) -> SecondRoute | None:
    """Differences of a function to the right and to the left of the place where its derivative was taken by a formula.

    At a kink the formula has a value and the function no derivative. None where there is no such form of the node.
    """
    (derivative, variables, places) = node.args
    if len(variables) != 1 or [variable for variable, _ in derivative.variable_count] != list(variables):
        return None
    if derivative.expr.has(*UNEVALUATED, AppliedUndef):
        return None
    ((variable, count),) = derivative.variable_count
    agreed, left_open = 0, None
    for found in itertools.islice(_points(node, value, where), _KINKS):
        place, sides = places[0].subs(found.point), []
        for side, which in ((1, "to the right"), (-1, "to the left"), (0, "on both sides")):
            told = f"differences {which} of {variable} = {place}"
            try:
                holds = _tends_beside(derivative.expr, variable, int(count), value, place, side, found.point)
            except _FAILURES:
                continue
            if holds is False:
                return SecondRoute(False, f"{told} give another value")
            sides.append(holds)
            if holds is None:
                left_open = SecondRoute(None, f"{told} do not tell", left_open=True)
        agreed += len(sides) == 3 and all(sides)
    if left_open is not None:
        return left_open
    return SecondRoute(True, f"differences beside the place (evidence), at {agreed} points") if agreed else None


def _one_sided_slopes(left: Expr, right: Expr, point: Point) -> bool | None:
    """Is a side a derivative, and do differences to both sides of the point tend to the other side?

    At a kink central differences tend to a number and the function has no derivative. None for any other two sides.
    """
    for node, value in ((left, right), (right, left)):
        if isinstance(node, Derivative) and len(node.variable_count) == 1 and not node.expr.has(*UNEVALUATED):
            ((variable, count),) = node.variable_count
            if variable not in point or value.has(*UNEVALUATED):
                return None
            try:
                there = [
                    _tends_beside(node.expr, variable, int(count), value, point[variable], side, point)
                    for side in (1, -1)
                ]
            except _FAILURES:
                return None
            return False if False in there else True if None not in there else None
    return None


def _tends_beside(
    expression: Expr, variable: Symbol, order: int, value: Expr, place: Expr, side: int, point: Point
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


def _every_point(left: Expr, right: Expr, where: Boolean) -> Iterator[tuple[bool, ExceptionalPoint]]:
    """Exceptional points of the parameters, which can only speak against the value, and then those that are drawn."""
    letters = sorted(left.free_symbols | right.free_symbols, key=str)
    yield from ((True, found) for found in exceptional_points((left, right), letters, where))
    yield from ((False, found) for found in _points(left, right, where))


def _points(left: Expr, right: Expr, where: Boolean) -> Iterator[ExceptionalPoint]:
    symbols = sorted(left.free_symbols | right.free_symbols, key=str)
    draws = random.Random(0)
    counts = [symbol for symbol in symbols if symbol.is_integer and symbol.is_nonnegative]
    if counts and (left.has(Sum, Product) or right.has(Sum, Product)):
        # Closed forms of sums fail first where the sum is empty or has one term.
        least = {symbol: sympy.Integer(bool(symbol.is_positive)) for symbol in counts}
        point = {symbol: least.get(symbol, admissible(symbol, None, draws)) for symbol in symbols}
        if admitted(point, where):
            yield ExceptionalPoint("", point)
    for _ in range(_ATTEMPTS if symbols else 1):
        point = {symbol: admissible(symbol, None, draws) for symbol in symbols}
        if admitted(point, where):
            yield ExceptionalPoint("", point)


def _differentiated(node: Integral, value: Expr) -> SecondRoute:
    found = is_zero(value.diff(node.limits[0][0]) - node.function)
    if found.refuted:
        return SecondRoute(False, f"its derivative is not the integrand at {ExceptionalPoint('', dict(found.point))}")
    if found.proved:
        return SecondRoute(True, f"its derivative, by {found.reason}")
    return SecondRoute(None, found.reason)


def _quadrature(node: Integral, point: Point) -> _Value:
    (variable, low, high), *outer = node.limits
    if outer:
        raise UnsupportedExpression("Integral", "it runs over more than one variable")
    inside = {letter: number for letter, number in point.items() if letter != variable}
    ball, cut = integral(node.function, variable, low, high, inside)
    return _Value(ball) if cut is None else _Value(ball, cut, _CUT_OFF)


def _terms(node: Expr, point: Point) -> _Value:
    return _Value(complex_ball_of(node, point, _PRECISION))


def _series(node: Expr, point: Point) -> _Value:
    index, low, high = node.limits[0]
    if len(node.limits) > 1 or high is not oo:
        raise UnsupportedExpression(type(node).__name__, "it is no series over one index")
    partial = [ball_of(type(node)(node.function, (index, low, low + count)), point, _PRECISION) for count in _MANY]
    return _extrapolated(partial)


def _extrapolated(values: list[arb]) -> _Value:
    """The last of a sequence, off by at most twice the last step: what decays like 1/k or faster, k doubling, is."""
    return _Value(acb(values[-1]), 2 * abs(values[-1] - values[-2]))


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


def _approached(node: Limit, value: Expr, where: Boolean) -> SecondRoute:
    name, seen, why = "balls along the limit (evidence)", 0, "its value is a real number at no point tried"
    for special, found in _every_point(node, value, where):
        point = found.point
        try:
            courses = _courses(node, point)
            agrees = [
                _grows(course, value) if value in (oo, -oo) else _tends(course, value, point) for course in courses
            ]
        except _FAILURES as error:
            why = str(error) or type(error).__name__
            continue
        if False in agrees:
            return SecondRoute(False, f"{name} tend elsewhere{f' at {found}' if point else ''}")
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


def _courses(node: Limit, point: Point) -> list[list[arb]]:
    """Values along each way to the place, far out or as far as numbers can be computed with."""
    expression, variable, place, direction = node.args
    for steps in (_FAR, _NEAR):
        try:
            ways = _ways(place, str(direction), point, steps)
            return [_course(expression, variable, way, point, steps) for way in ways]
        except _TooFew:
            continue
    raise UnsupportedExpression("Limit", "too few values along it are known")


class _TooFew(Exception):
    """Too few values along a limit are known."""


def _ways(place: Expr, direction: str, point: Point, steps: tuple[int, ...]) -> list[list[Expr]]:
    two = sympy.Integer(2)
    if place in (oo, -oo):
        sign = 1 if place is oo else -1
        return [[sign * (two**k + more) for k in steps] for more in (0, 1)]
    here = place.subs(point)
    signs = {"+": (1,), "-": (-1,)}.get(direction, (1, -1))
    return [[here + sign * two**-k for k in steps] for sign in signs]


def _course(expression: Expr, variable: Symbol, places: list[Expr], point: Point, steps: tuple[int, ...]) -> list[arb]:
    found: list[arb] = []
    for where in places:
        # Differences of numbers of size 2^k cancel: four times as many bits stay for every one of them.
        bits = 128 + 16 * steps[len(found)]
        value = ball_of(expression, {**point, variable: ball_of(where, {}, 2 * bits)}, bits)
        if not value.is_finite() or value.rad() > arb(2) ** -32 * (1 + abs(value.mid())):
            break
        found.append(value)
    if len(found) < 4:
        raise _TooFew
    return found


def _tends(course: list[arb], value: Expr, point: Point) -> bool | None:
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


def _limit_value(node: Limit, point: Point) -> _Value:
    """The last value along a limit, off by at most twice the last step where the steps shrink."""
    courses = _courses(node, point)
    for course in courses:
        if not abs(course[-1] - course[-2]) < abs(course[-2] - course[-3]) / 2:
            raise UnsupportedExpression("Limit", "the values along it do not tell")
    found = [_extrapolated(course) for course in courses]
    if any(not value.wide.overlaps(found[0].wide) for value in found):
        raise UnsupportedExpression("Limit", "its ways lead to different values")
    return found[0]


def _differences(node: Derivative, point: Point) -> _Value:
    """Central differences of the highest order asked for, at two steps; their difference is larger than the error."""
    bits = sum(int(count) for _, count in node.variable_count)
    found = []
    for step in (-48, -49):
        h = sympy.Integer(2) ** step
        found.append(_difference(node.expr, list(node.variable_count), point, h, 128 + 64 * (bits + 4)))
    return _Value(acb(found[1]), abs(found[1] - found[0]))


def _difference(expression: Expr, counts: list[Any], point: Point, h: Expr, precision: int) -> arb:
    if not counts:
        return ball_of(expression, point, precision)
    (variable, count), *others = counts
    order, total = int(count), arb(0)
    if variable not in point:  # the expression does not hold it: every difference is zero
        return total
    with flint.ctx.workprec(precision):
        for i in range(order + 1):
            where = {**point, variable: _exact(point[variable] + (sympy.Rational(order, 2) - i) * h, precision)}
            weight = arb((-1) ** i * int(sympy.binomial(order, i)))
            total += weight * _difference(expression, others, where, h, precision)
        return total / ball_of(h, {}, precision) ** order


def _exact(number: Any, precision: int) -> Any:
    """A rational as it is, any other number as a ball much narrower than what is computed with it."""
    return number if isinstance(number, sympy.Rational | arb) else ball_of(number, {}, 4 * precision)


def _inserted(node: Subs, point: Point) -> _Value:
    given = dict(point)
    for variable, where in zip(node.variables, node.point, strict=True):
        number = where.subs(point) if where.free_symbols <= point.keys() else where
        given[variable] = number if number.is_Rational else _plain(complex_ball_of(where, point, 2 * _PRECISION))
    return _Value(complex_ball_of(node.expr, given, _PRECISION))


_ROUTES: dict[type, tuple[str, Callable[[Any, Point], _Value]]] = {
    Integral: ("balls of a quadrature", _quadrature),
    Sum: ("its terms added in balls", _terms),
    Product: ("its factors multiplied in balls", _terms),
    Derivative: ("central differences in balls (evidence)", _differences),
    Subs: ("its value in balls", _inserted),
    Limit: ("balls along the limit (evidence)", _limit_value),
}
