"""The symbolic domain: a program's numbers are SymPy expressions, its float literals exact dyadic rationals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, final

import sympy

from theorax.errors import UsageError
from theorax.numerics.arithmetics.domain import ObjectDomain
from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive

_RELATIONS = {"lt": sympy.Lt, "le": sympy.Le, "gt": sympy.Gt, "ge": sympy.Ge}


def exact_rational(number: object) -> sympy.Expr:
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


def _cbrt(x: sympy.Expr) -> sympy.Expr:
    if x.is_nonnegative:
        return sympy.cbrt(x)
    return -sympy.cbrt(-x) if x.is_negative else _sign(x) * sympy.cbrt(sympy.Abs(x))


@final
@dataclass(frozen=True)
class Symbolic(ObjectDomain):
    """SymPy expressions; a comparison is answered only where the symbols' assumptions decide it.

    ``unsettled`` gathers the functions met whose argument the assumptions do not place in their domain. A result speaks
    only of where these are defined, and from there on no comparison is decided that a NaN would answer otherwise.

    **Errors:** none, every literal is exact. ``sqrt``, ``exp`` and the others stay unevaluated functions.
    """

    name: ClassVar[str] = "symbolic"
    unsettled: set[str] = field(default_factory=set, compare=False)

    @property
    def functions(self) -> Mapping[str, Callable[[Any], Any]]:
        return {**_FUNCTIONS, **{name: partial(self._within, name, _FUNCTIONS[name]) for name in _INSIDE}}

    @property
    def operations(self) -> Mapping[str, Callable[[Any, Any], Any]]:
        return {**_OPERATIONS, "pow": partial(self._within, "pow", _OPERATIONS["pow"])}

    def _within(self, name: str, function: Callable[..., Any], *arguments: sympy.Expr) -> sympy.Expr:
        """The function where it has a real value, NaN where it has none; where neither is known, that is noted."""
        inside = _power_inside(*arguments) if name == "pow" else _INSIDE[name](*arguments)
        if inside is False:
            return sympy.nan
        if inside is None:
            self.unsettled.add(name)
        return function(*arguments)

    def scalar(self, number: object) -> sympy.Expr:
        return exact_rational(number)

    def decide(self, name: str, x: sympy.Expr, y: sympy.Expr) -> bool | None:
        answer = _equal(x, y) if name in ("eq", "ne") else _truth(_RELATIONS[name](x, y))
        if answer is not None and name == "ne":
            answer = not answer
        # A NaN is unequal, and neither above nor below.
        return None if self.unsettled and answer == (name != "ne") else answer

    def finite(self, x: sympy.Expr) -> bool | None:
        if x.is_finite and (self.unsettled or not x.is_real):
            return None
        return x.is_finite

    def integer_power(self, x: sympy.Expr, exponent: int) -> sympy.Expr:
        return x**exponent

    def total(self, terms: Sequence[sympy.Expr]) -> sympy.Expr:
        return sympy.Add(*terms)


def _equal(x: sympy.Expr, y: sympy.Expr) -> bool | None:
    if x == y and x is not sympy.nan:
        return True if x.is_extended_real else None
    answer = _truth(sympy.Eq(x, y))
    return (x - y).is_zero if answer is None else answer


def _all(*conditions: bool | None) -> bool | None:
    """All of them, if that is known."""
    if any(condition is False for condition in conditions):
        return False
    return True if all(conditions) else None


def _power_inside(x: sympy.Expr, y: sympy.Expr) -> bool | None:
    if (
        x.is_positive
        or (x.is_nonnegative and y.is_nonnegative)
        or (y.is_integer and (x.is_nonzero or y.is_nonnegative))
    ):
        return True
    return False if x.is_negative and y.is_integer is False else None


_INSIDE: Mapping[str, Callable[[Any], bool | None]] = {
    "sqrt": lambda x: x.is_nonnegative,
    "rsqrt": lambda x: x.is_positive,
    "log": lambda x: x.is_positive,
    "log1p": lambda x: (1 + x).is_positive,
    "asin": lambda x: _all((1 + x).is_nonnegative, (1 - x).is_nonnegative),
    "acos": lambda x: _all((1 + x).is_nonnegative, (1 - x).is_nonnegative),
    "acosh": lambda x: (x - 1).is_nonnegative,
    "atanh": lambda x: _all((1 + x).is_positive, (1 - x).is_positive),
}
"""Does the argument lie where the function of real numbers has a value? None where the assumptions do not say."""


def _loggamma(x: sympy.Expr) -> sympy.Expr:
    if not x.is_positive:
        # The program's is log |gamma(x)|, SymPy's another branch of the complex function.
        raise UnsupportedPrimitive("lgamma", "symbolic", "its argument is not known to be positive")
    return sympy.loggamma(x)


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
    "sqrt": sympy.sqrt,
    "rsqrt": lambda x: 1 / sympy.sqrt(x),
    "cbrt": _cbrt,
    "exp": sympy.exp,
    "exp2": lambda x: sympy.Integer(2) ** x,
    "expm1": lambda x: sympy.exp(x) - 1,
    "log": sympy.log,
    "log1p": lambda x: sympy.log(1 + x),
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
    "lgamma": _loggamma,
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
