"""SymPy expressions in complex balls: at exact points, and as functions of one complex number for a rigorous quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import flint
import sympy
from flint import acb
from sympy.core.relational import Relational

from theorax.errors import UsageError
from theorax.numerics.arithmetics.expressions import Point, UnsupportedExpression, ball_of
from theorax.numerics.arithmetics.failures import UndecidedComparison
from theorax.numerics.arithmetics.special_functions import NOWHERE, applied

Function: TypeAlias = Callable[[acb, bool], acb]
"""From a ball, and whether the function must be analytic on it, to a ball; not finite where it is not analytic."""


def complex_ball_of(expression: sympy.Expr, point: Point, precision: int = 256) -> acb:
    """A ball that contains the exact value of the expression at the point, whether that is real or not.

    **Errors:** inside the ball. Where the value is not a number the ball is not finite.

    **Raises:** as ``ball_of``.
    """
    expression = sympy.sympify(expression)
    if expression in point and isinstance(point[expression], acb):
        return point[expression]
    given = {key: value for key, value in point.items() if not isinstance(value, acb)}
    if len(given) == len(point) or not expression.has_free(*(point.keys() - given.keys())):
        try:
            value = ball_of(expression, given, precision)
            if value.is_finite():
                return acb(value)
            unknown = None
        except (UnsupportedExpression, UndecidedComparison) as error:
            unknown = error
        except UsageError:
            raise
    else:
        unknown = None
    if expression is sympy.I:
        return acb(0, 1)
    if not expression.args:
        if unknown is not None:
            raise unknown
        return NOWHERE
    # All letters have their values: a function of a letter that does not occur.
    with flint.ctx.workprec(precision):
        return function_of(expression, _NO_LETTER, point, precision, entered=True)(acb(0), False)


def computable(node: sympy.Expr) -> bool:
    """Does the function at the top of the node have an enclosure?"""
    return applied(node) is not None or type(node).__name__ in _OF_REAL_NUMBERS


_NO_LETTER = sympy.Dummy()


def function_of(
    expression: sympy.Expr, variable: sympy.Symbol, point: Point, precision: int, entered: bool = False
) -> Function:
    """The expression as a function of the variable, all other symbols at the point.

    ``entered``: the expression is taken apart though the variable does not occur in it.

    **Raises:** ``UnsupportedExpression`` with the name of a node that has no enclosure at complex numbers.
    """
    if not entered and not expression.has_free(variable):
        value = complex_ball_of(expression, point, precision)
        return lambda z, analytic: value
    if expression == variable:
        return lambda z, analytic: z

    def operand(part: sympy.Expr) -> Function:
        return function_of(part, variable, point, precision)

    match expression:
        case sympy.Add():
            parts = [operand(part) for part in expression.args]
            return lambda z, analytic: sum((part(z, analytic) for part in parts), acb(0))
        case sympy.Mul():
            parts = [operand(part) for part in expression.args]
            return lambda z, analytic: math.prod((part(z, analytic) for part in parts), start=acb(1))
        case sympy.Pow():
            return _power(expression.exp, *map(operand, expression.args))
        case sympy.Max() | sympy.Min():
            parts = [operand(part) for part in expression.args]
            larger = isinstance(expression, sympy.Max)
            return lambda z, analytic: _extreme([_real(part, z, analytic) for part in parts], larger, analytic)
        case sympy.Piecewise():
            return _piecewise(expression, variable, point, precision)
    name = type(expression).__name__
    if name in _OF_REAL_NUMBERS and len(expression.args) == 1:
        inner, outer = operand(expression.args[0]), _OF_REAL_NUMBERS[name]
        return lambda z, analytic: outer(_real(inner, z, analytic) if analytic else inner(z, False), analytic)
    found = applied(expression)
    if found is None:
        raise UnsupportedExpression(name, "it has no enclosure at complex numbers")
    inside = [operand(part) for part in found.operands]
    others = [part for place, part in enumerate(found.operands) if place != found.main % len(found.operands)]
    if any(part.has_free(variable) for part in others) and not found.jointly:
        raise UnsupportedExpression(name, "it is not known to be analytic in this argument")
    return lambda z, analytic: found.at([part(z, analytic) for part in inside], analytic)


def _power(exponent: sympy.Expr, base: Function, by: Function) -> Function:
    if isinstance(exponent, sympy.Integer):
        whole = int(exponent)
        return lambda z, analytic: base(z, analytic) ** whole
    if exponent == sympy.S.Half:
        return lambda z, analytic: base(z, analytic).sqrt(analytic=analytic)
    if exponent == -sympy.S.Half:
        return lambda z, analytic: base(z, analytic).rsqrt(analytic=analytic)
    return lambda z, analytic: base(z, analytic).pow(by(z, analytic), analytic=analytic)


def _real(function: Function, z: acb, analytic: bool) -> acb:
    """The value of a function that is real at real numbers; not finite where the middle of the ball shows that it is not.

    What extends a function of real numbers to complex ones does so for a real argument alone.
    """
    middle = acb(z.real.mid())
    return function(z, analytic) if function(middle, False).imag.contains(0) else NOWHERE


def _extreme(values: list[acb], larger: bool, analytic: bool) -> acb:
    found = values[0]
    for value in values[1:]:
        found = found.real_max(value, analytic=analytic) if larger else found.real_min(value, analytic=analytic)
    return found


def _piecewise(expression: Any, variable: sympy.Symbol, point: Point, precision: int) -> Function:
    """The first piece whose condition holds on the whole ball; no number where the ball holds an end of a piece."""
    pieces = []
    for value, condition in expression.args:
        if condition != sympy.true and not isinstance(condition, Relational):
            raise UnsupportedExpression("Piecewise", "a condition of it is no single comparison")
        sides = sympy.Integer(1) if condition == sympy.true else condition.lhs - condition.rhs
        function, difference = (function_of(part, variable, point, precision) for part in (value, sides))
        pieces.append((function, difference, condition))

    def chosen(z: acb, analytic: bool) -> acb:
        for value, difference, condition in pieces:
            side = difference(z, analytic).real
            known = 1 if side > 0 else -1 if side < 0 else 0 if side.is_zero() and not analytic else None
            if known is None:
                return NOWHERE
            if condition == sympy.true or condition.func(sympy.Integer(known), 0):
                return value(z, analytic)
        return NOWHERE

    return chosen


_OF_REAL_NUMBERS: Mapping[str, Callable[[acb, bool], acb]] = {
    "Abs": lambda z, analytic: z.real_abs(analytic=True) if analytic else acb(abs(z)),
    "sign": lambda z, analytic: z.real_sgn(analytic=True) if analytic else z.sgn(),
    "Heaviside": lambda z, analytic: z.real_heaviside(analytic=analytic),
}
