"""The symbolic domain: a program's numbers are SymPy expressions, its float literals exact dyadic rationals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, final

import sympy

from theorax.errors import UsageError
from theorax.numerics.arithmetics.domain import ObjectDomain
from theorax.numerics.arithmetics.failures import UndecidedComparison

_RELATIONS = {"lt": sympy.Lt, "le": sympy.Le, "gt": sympy.Gt, "ge": sympy.Ge}


def exact(number: object) -> sympy.Expr:
    """A number as SymPy's exact rational; a float is the dyadic it stores, never a rounded decimal.

    **Raises:** ``UsageError`` for what is neither a number nor an expression.
    """
    if isinstance(number, sympy.Expr):
        return number
    if isinstance(number, bool | int):
        return sympy.Integer(int(number))
    if isinstance(number, Fraction):
        return sympy.Rational(number.numerator, number.denominator)
    if isinstance(number, float):
        if math.isnan(number):
            return sympy.nan
        if math.isinf(number):
            return sympy.oo if number > 0 else -sympy.oo
        return sympy.Rational(*number.as_integer_ratio())
    raise UsageError(
        f"An entry of type {type(number).__name__} is no symbolic number. "
        "Give a SymPy expression, an int, a Fraction or a float."
    )


def _sign(x: sympy.Expr) -> sympy.Expr:
    for known, value in ((x.is_positive, 1), (x.is_negative, -1), (x.is_zero, 0)):
        if known:
            return sympy.Integer(value)
    raise UndecidedComparison("sign", x)


def _log(x: sympy.Expr) -> sympy.Expr:
    return sympy.nan if x.is_negative else sympy.log(x)  # the program is real: no branch of the complex logarithm


def _cbrt(x: sympy.Expr) -> sympy.Expr:
    if x.is_nonnegative:
        return sympy.cbrt(x)
    return -sympy.cbrt(-x) if x.is_negative else _sign(x) * sympy.cbrt(sympy.Abs(x))


@final
@dataclass(frozen=True)
class Symbolic(ObjectDomain):
    """SymPy expressions; a comparison is answered only where the symbols' assumptions decide it.

    **Errors:** none, every literal is exact. ``sqrt``, ``exp`` and the others stay unevaluated functions.
    """

    name: ClassVar[str] = "symbolic"

    @property
    def functions(self) -> Mapping[str, Callable[[Any], Any]]:
        return _FUNCTIONS

    @property
    def operations(self) -> Mapping[str, Callable[[Any, Any], Any]]:
        return _OPERATIONS

    def scalar(self, number: object) -> sympy.Expr:
        return exact(number)

    def decide(self, name: str, x: sympy.Expr, y: sympy.Expr) -> bool | None:
        if name in ("eq", "ne"):
            equal = True if x == y and x is not sympy.nan else sympy.Eq(x, y)
            answer = _truth(equal)
            if answer is None:
                answer = (x - y).is_zero
            return answer if name == "eq" or answer is None else not answer
        return _truth(_RELATIONS[name](x, y))

    def finite(self, x: sympy.Expr) -> bool | None:
        return x.is_finite

    def integer_power(self, x: sympy.Expr, exponent: int) -> sympy.Expr:
        return x**exponent

    def total(self, terms: Sequence[sympy.Expr]) -> sympy.Expr:
        return sympy.Add(*terms)


def _truth(relation: Any) -> bool | None:
    if relation in (True, sympy.true):
        return True
    if relation in (False, sympy.false):
        return False
    return None


_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "neg": lambda x: -x,
    "abs": sympy.Abs,
    "sign": _sign,
    "sqrt": lambda x: sympy.nan if x.is_negative else sympy.sqrt(x),
    "rsqrt": lambda x: sympy.nan if x.is_negative else 1 / sympy.sqrt(x),
    "cbrt": _cbrt,
    "exp": sympy.exp,
    "exp2": lambda x: sympy.Integer(2) ** x,
    "expm1": lambda x: sympy.exp(x) - 1,
    "log": _log,
    "log1p": lambda x: _log(1 + x),
    "tanh": sympy.tanh,
    "sinh": sympy.sinh,
    "cosh": sympy.cosh,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "asin": sympy.asin,
    "acos": sympy.acos,
    "atan": sympy.atan,
    "asinh": sympy.asinh,
    "acosh": sympy.acosh,
    "atanh": sympy.atanh,
    "erf": sympy.erf,
    "erfc": sympy.erfc,
    "logistic": lambda x: 1 / (1 + sympy.exp(-x)),
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "lgamma": sympy.loggamma,
    "digamma": sympy.digamma,
}

_OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": lambda x, y: x**y,
    "max": sympy.Max,
    "min": sympy.Min,
    "atan2": sympy.atan2,
}
