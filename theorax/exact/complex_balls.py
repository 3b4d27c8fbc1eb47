"""Functions of one complex number made of SymPy expressions, in balls: what a rigorous quadrature asks of an integrand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import sympy
from flint import acb
from sympy.core.relational import Relational

from theorax.numerics.arithmetics.expressions import Point, UnsupportedExpression, ball_of

Function: TypeAlias = Callable[[acb, bool], acb]
"""From a ball, and whether the function must be analytic on it, to a ball; not finite where it is not analytic."""

_NOWHERE = acb("nan")


def function_of(expression: sympy.Expr, variable: sympy.Symbol, point: Point, precision: int) -> Function:
    """The expression as a function of the variable, all other symbols at the point.

    **Raises:** ``UnsupportedExpression`` with the name of a node that has no enclosure at complex numbers.
    """
    if not expression.has_free(variable):
        value = acb(ball_of(expression, point, precision))
        return lambda z, analytic: value
    if expression == variable:
        return lambda z, analytic: z
    parts = [function_of(part, variable, point, precision) for part in _operands(expression)]
    match expression:
        case sympy.Add():
            return lambda z, analytic: sum((part(z, analytic) for part in parts), acb(0))
        case sympy.Mul():
            return lambda z, analytic: math.prod((part(z, analytic) for part in parts), start=acb(1))
        case sympy.Pow():
            return _power(expression.exp, *parts)
        case sympy.Max() | sympy.Min():
            larger = isinstance(expression, sympy.Max)
            return lambda z, analytic: _extreme([part(z, analytic) for part in parts], larger, analytic)
        case sympy.Piecewise():
            return _piecewise(expression, variable, point, precision)
    name = type(expression).__name__
    if name not in _FUNCTIONS or len(parts) != 1:
        raise UnsupportedExpression(name, "it has no enclosure at complex numbers")
    (argument,), outer = parts, _FUNCTIONS[name]
    return lambda z, analytic: outer(argument(z, analytic), analytic)


def _operands(expression: sympy.Expr) -> tuple[Any, ...]:
    return () if isinstance(expression, sympy.Piecewise) else expression.args


def _power(exponent: sympy.Expr, base: Function, by: Function) -> Function:
    if isinstance(exponent, sympy.Integer):
        whole = int(exponent)
        return lambda z, analytic: base(z, analytic) ** whole
    if exponent == sympy.S.Half:
        return lambda z, analytic: base(z, analytic).sqrt(analytic=analytic)
    if exponent == -sympy.S.Half:
        return lambda z, analytic: base(z, analytic).rsqrt(analytic=analytic)
    return lambda z, analytic: base(z, analytic).pow(by(z, analytic), analytic=analytic)


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
        difference = sympy.Integer(1) if condition == sympy.true else condition.gts - condition.lts
        pieces.append(tuple(function_of(part, variable, point, precision) for part in (value, difference)))

    def chosen(z: acb, analytic: bool) -> acb:
        for value, difference in pieces:
            side = difference(z, analytic).real
            if side > 0:
                return value(z, analytic)
            if not side < 0:
                return _NOWHERE
        return _NOWHERE

    return chosen


_FUNCTIONS: Mapping[str, Callable[[acb, bool], acb]] = {
    "exp": lambda z, analytic: z.exp(),
    "log": lambda z, analytic: z.log(analytic=analytic),
    "sin": lambda z, analytic: z.sin(),
    "cos": lambda z, analytic: z.cos(),
    "tan": lambda z, analytic: z.tan(),
    "cot": lambda z, analytic: z.cot(),
    "sec": lambda z, analytic: z.sec(),
    "csc": lambda z, analytic: z.csc(),
    "sinh": lambda z, analytic: z.sinh(),
    "cosh": lambda z, analytic: z.cosh(),
    "tanh": lambda z, analytic: z.tanh(),
    "coth": lambda z, analytic: z.coth(),
    "atan": lambda z, analytic: _off_the_cut(z.atan(), z.real, analytic, inside=False),
    "asin": lambda z, analytic: _off_the_cut(z.asin(), z.real, analytic, inside=True),
    "acos": lambda z, analytic: _off_the_cut(z.acos(), z.real, analytic, inside=True),
    "asinh": lambda z, analytic: _off_the_cut(z.asinh(), z.imag, analytic, inside=True),
    "atanh": lambda z, analytic: _off_the_cut(z.atanh(), z.real, analytic, inside=True),
    "erf": lambda z, analytic: z.erf(),
    "erfc": lambda z, analytic: z.erfc(),
    "erfi": lambda z, analytic: z.erfi(),
    "gamma": lambda z, analytic: z.gamma(),
    "Abs": lambda z, analytic: z.real_abs(analytic=analytic),
    "sign": lambda z, analytic: z.real_sgn(analytic=analytic),
}


def _off_the_cut(value: acb, part: Any, analytic: bool, *, inside: bool) -> acb:
    """The value if no cut is near: the cuts of these functions lie where this part is at least one in size.

    The cuts of the arc tangent are on the imaginary axis, so a ball is far from them if its real part is not zero.
    """
    if analytic and not (abs(part) < 1 if inside else not part.contains(0)):
        return _NOWHERE
    return value
