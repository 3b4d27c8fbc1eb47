"""Places where an integrand or a term is no number, between the ends of its integral, sum or product.

A rule for the value of an integral knows nothing of a pole that lies between the ends. Zeros of the denominators are asked
for at exact points of the parameters, special ones among them: evidence that there is none, and a place where there is one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import sympy
from flint import arb
from sympy import Expr, Integral, Poly, Pow, Product, Sum, Symbol, nan, oo, zoo

from theorax.errors import UsageError
from theorax.exact.zero import admissible, admits
from theorax.numerics.arithmetics.expressions import UnsupportedExpression, ball_of, dyadic
from theorax.numerics.arithmetics.failures import UndecidedComparison

_RANGES = ((-6, 6), (-1, 1), (-40, 40), (-3, 3))
_DRAWS = 64
"""Points of the parameters, drawn from one of these ranges after another."""

_SPECIAL = (0, 1, -1)
_TERMS = 32
"""First terms of a sum whose denominator is no polynomial, each of them looked at."""

_PLACES = 64
"""Places between finite ends at which the sign of a denominator that is no polynomial is looked at."""

_DIGITS = 200
_BESIDE = (64, 128)  # an integrand is looked at so many binary digits beside a zero of its denominator
_FAILURES = (
    UnsupportedExpression,
    UndecidedComparison,
    UsageError,
    ArithmeticError,
    ValueError,
    TypeError,
    NotImplementedError,
    AttributeError,
    sympy.PolynomialError,
)

_BELOW = {
    sympy.tan: sympy.cos,
    sympy.sec: sympy.cos,
    sympy.cot: sympy.sin,
    sympy.csc: sympy.sin,
    sympy.coth: sympy.sinh,
    sympy.csch: sympy.sinh,
}
"""The denominator of each function that has one."""


@cache
def undefined_inside(node: Expr) -> str:
    """A sentence that names the place between the ends where there is no number; empty where none was found."""
    if not isinstance(node, Integral | Sum | Product) or len(node.limits) != 1 or len(node.limits[0]) != 3:
        return ""
    variable = node.limits[0][0]
    bases = _denominators(node.function, variable)
    letters = sorted(node.free_symbols, key=str)
    for point in _points(letters) if bases else ():
        function, low, high = (part.subs(point) for part in (node.function, *node.limits[0][1:]))
        if function.has(nan, zoo) or nan in (low, high) or zoo in (low, high):
            continue
        for base in bases:
            inside = _pole if isinstance(node, Integral) else _no_term
            place = inside(function, base.subs(point), variable, low, high)
            if place is not None:
                word = "integrand" if isinstance(node, Integral) else "term"
                given = ", ".join(f"{letter} = {number}" for letter, number in point.items())
                return f"the {word} has no value at {variable} = {_shown(place)}, between the ends" + (
                    given and f", at {given}"
                )
    return ""


def _shown(place: Expr) -> str:
    return str(place if len(str(place)) <= 40 else place.evalf(10))


def special_points(letters: list[Symbol]) -> Iterator[dict[Symbol, Any]]:
    """Admissible points: all letters 0, 1 or -1 wherever they may be, then all of them equal."""
    source = random.Random(1)
    for number in map(sympy.Integer, _SPECIAL):
        if any(admits(letter, number) for letter in letters):
            yield {letter: number if admits(letter, number) else _drawn(letter, None, source) for letter in letters}
    if letters and all(admits(letter, value := _drawn(letters[0], None, source)) for letter in letters):
        yield dict.fromkeys(letters, value)


def _points(letters: list[Symbol]) -> Iterator[dict[Symbol, Any]]:
    """The special points and others that are drawn; the empty one where there is no letter."""
    source = random.Random(2)
    yield from special_points(letters)
    for attempt in range(_DRAWS if letters else 1):
        yield {letter: _drawn(letter, _RANGES[attempt % len(_RANGES)], source) for letter in letters}


def _drawn(letter: Symbol, bounds: tuple[int, int] | None, source: random.Random) -> sympy.Rational:
    try:
        return admissible(letter, bounds, source)
    except UsageError:
        return admissible(letter, None, source)


def _denominators(function: Expr, variable: Symbol) -> list[Expr]:
    """Expressions that must not be zero: bases of powers whose exponent may be negative, and denominators of some functions."""
    bases = {power.base for power in function.atoms(Pow) if not power.exp.is_nonnegative}
    bases |= {below(part.args[0]) for kind, below in _BELOW.items() for part in function.atoms(kind)}
    return sorted((base for base in bases if base.has(variable)), key=str)


def _zeros(base: Expr, variable: Symbol) -> list[Expr] | None:
    """Real zeros of the numerator, if it is a polynomial."""
    top = sympy.numer(sympy.together(base))
    if not top.is_polynomial(variable):
        return None
    polynomial = Poly(top, variable)
    if polynomial.degree() < 1:
        return []
    if polynomial.domain.is_ZZ or polynomial.domain.is_QQ:
        return list(dict.fromkeys(polynomial.real_roots()))
    return [root for root in sympy.roots(polynomial) if root.is_real]


def _pole(function: Expr, base: Expr, variable: Symbol, low: Expr, high: Expr) -> Expr | None:
    """The first zero of the denominator between the ends beside which the integrand is not integrable."""
    try:
        zeros = _zeros(base, variable)
        if zeros is None:
            zeros = _changes(base, variable, low, high)
        inside = [zero for zero in zeros if sympy.Min(low, high) < zero < sympy.Max(low, high)]
    except _FAILURES:
        return None
    return next((zero for zero in inside if not _integrable(function, variable, zero)), None)


def _changes(base: Expr, variable: Symbol, low: Expr, high: Expr) -> list[Expr]:
    """Places where a function changes its sign between finite ends, by bisection."""
    if not (low.is_finite and high.is_finite):
        return []
    low, high = _rational(low), _rational(high)
    places = [low + (high - low) * sympy.Rational(2 * i + 1, 2 * _PLACES) for i in range(_PLACES)]
    values = [ball_of(base, {variable: place}, 128) for place in places]
    found = []
    for left, right, first, second in zip(places, places[1:], values, values[1:], strict=False):
        if first * second < 0:
            found.append(_bisected(base, variable, left, right, first))
    return found


def _rational(number: Expr) -> Expr:
    """The number, so near that nothing here tells them apart."""
    found = number.evalf(_DIGITS)
    return dyadic(found) if isinstance(found, sympy.Float) else found


def _bisected(base: Expr, variable: Symbol, left: Expr, right: Expr, first: arb) -> Expr:
    for _ in range(3 * _BESIDE[-1] // 2):
        middle = (left + right) / 2
        value = ball_of(base, {variable: middle}, 1024)
        left, right = (left, middle) if value * first <= 0 else (middle, right)
    return left


def _integrable(function: Expr, variable: Symbol, zero: Expr) -> bool:
    """Is the integrand times the distance surely smaller, the nearer to the place?

    From 2^-64 to 2^-128 that product stays at a simple pole. It falls to 1/2 for 1/(x log x), which is not integrable, and to
    1/4 for 1/(x log^2 x), which is: 2/5 parts them.
    """
    near, nearer = (sympy.Integer(2) ** -bits for bits in _BESIDE)
    number = _rational(zero)
    for side in (1, -1):
        far, close = (_size(function, variable, number + side * step) * step for step in (near, nearer))
        if not close <= sympy.Rational(2, 5) * far:
            return False
    return True


def _size(function: Expr, variable: Symbol, place: Expr) -> Expr:
    """The absolute value there, by balls or, where these know nothing of it, by SymPy."""
    try:
        value = ball_of(function, {variable: place}, 1024)
        if value.is_finite():
            return sympy.Float(abs(value.mid()).str(30, radius=False))
    except _FAILURES:
        pass
    return abs(function.subs(variable, place).evalf(30))


def _no_term(function: Expr, base: Expr, variable: Symbol, low: Expr, high: Expr) -> Expr | None:
    """The first whole step from the lower end, not above the upper one, at which the term is no number."""
    try:
        zeros = _zeros(base, variable)
        if zeros is None:
            zeros = [low + i for i in range(_TERMS)] if low is not -oo else []
        inside = [zero for zero in zeros if low <= zero <= high and ((zero - low).is_integer or low is -oo)]
    except _FAILURES:
        return None
    whole = (zero for zero in inside if low is not -oo or zero.is_integer)
    return next((zero for zero in whole if function.subs(variable, zero).has(nan, zoo)), None)
