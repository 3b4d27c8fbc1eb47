"""Mathematics as typed: its value on numbers and on columns, and its order in one letter; no part of it is executed.

One reader serves both. Where every part is a fraction the value is a fraction, so `-2/3` and `0.1` are kept exact.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theorax.errors import UsageError

__all__ = [
    "CONSTANTS",
    "FUNCTIONS",
    "LogarithmicOrder",
    "NoOrder",
    "NoValue",
    "formula_value",
    "names_in",
    "number_as_typed",
    "order_of",
    "parse_formula",
]  # fmt: skip

Scalar = Fraction | float
Value = Scalar | NDArray[np.float64]

CONSTANTS: Mapping[str, float] = {"pi": math.pi, "e": math.e}
# How many arguments, on numbers, on columns.
FUNCTIONS: Mapping[str, tuple[int, Callable[..., Any], Callable[..., Any]]] = {
    "sqrt": (1, math.sqrt, np.sqrt),
    "log": (1, math.log, np.log),
    "exp": (1, math.exp, np.exp),
    "abs": (1, abs, np.abs),
    "min": (2, min, np.minimum),
    "max": (2, max, np.maximum),
}
_OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_BITS = 4096  # of an exact power; longer ones are floats, so that 9**9**9 takes no time


class NoValue(Exception):
    """A part that has no finite real value: its text, and the first entry of the columns where it has none."""

    def __init__(self, part: str, entry: int = 0) -> None:
        super().__init__(part)
        self.part, self.entry = part, entry


class NoOrder(Exception):
    """A right side whose order in its letter cannot be decided; the message says why."""


class LogarithmicOrder(NoOrder):
    """A right side that holds a logarithm of its letter."""


def parse_formula(text: str) -> ast.expr:
    """The tree of a formula; `^` is a power.

    **Raises:** UsageError for a text that is no formula, or one with other operations than these.
    """
    try:
        tree = ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UsageError(f"`{text.strip()}` cannot be read as mathematics.") from None
    for part in ast.walk(tree):
        if isinstance(part, ast.expr) and not _is_known(part):
            raise UsageError(
                f"`{ast.unparse(part)}` cannot be computed here. Write numbers and names with + - * / ** and "
                f"{', '.join(FUNCTIONS)}."
            )
    return tree


def _is_known(part: ast.expr) -> bool:
    match part:
        case ast.Constant(value=value):
            return isinstance(value, int | float | str) and not isinstance(value, bool)
        case ast.BinOp(op=op):
            return type(op) in _OPERATIONS
        case ast.UnaryOp(op=op):
            return isinstance(op, ast.USub | ast.UAdd)
        case ast.Call(func=ast.Name(id=name), args=[_, *rest], keywords=[]) if name in FUNCTIONS:
            return bool(rest) == (FUNCTIONS[name][0] > 1)
    return isinstance(part, ast.Name)


LARGEST = 1e50
"""Largest magnitude of a number typed or read: sixth powers (of a skewness), summed over 1e8 rows, are doubles."""


def number_as_typed(text: str) -> Scalar:
    """A number as typed: a fraction where it is one; zero, or of a magnitude up to `LARGEST` and from its inverse on.

    >>> number_as_typed("-2/3"), number_as_typed("0.1"), number_as_typed("2*pi")
    (Fraction(-2, 3), Fraction(1, 10), 6.283185307179586)

    **Raises:** UsageError for a text that is no finite number.
    """
    try:
        found = formula_value(parse_formula(text), CONSTANTS)
    except (UsageError, NoValue):
        raise UsageError(f"`{text.strip()}` is not a finite number.") from None
    assert not isinstance(found, np.ndarray)  # no constant is a column
    magnitude = abs(float(found))
    if found and not 1 / LARGEST <= magnitude <= LARGEST:
        size = "large" if magnitude > 1 else "small"
        raise UsageError(f"`{text.strip()}` is so {size} that powers of it leave the range of doubles.")
    return found


def names_in(node: ast.expr) -> list[str]:
    """The names in a formula, and its texts in quotes, which name columns too; each once, functions left out."""
    called = {id(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
    found = [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and id(part) not in called]
    quoted = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return list(dict.fromkeys([*found, *quoted]))


def formula_value(node: ast.expr, letters: Mapping[str, Value]) -> Value:
    """The value of a formula made of numbers, letters, + - * / **, sqrt, log, exp, abs, min and max.

    **Raises:** NoValue for anything else, and for the first part without a finite real value, however it is used later.
    """
    try:
        return _value(node, letters)
    except RecursionError:
        raise NoValue("so long a formula") from None


def _value(node: ast.expr, letters: Mapping[str, Value]) -> Value:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _finite(node, lambda: Fraction(str(number)))
        case ast.Name(id=name) | ast.Constant(value=str() as name) if name in letters:
            return letters[name]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=inner):
            found = _value(inner, letters)
            return -found if isinstance(sign, ast.USub) else found
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            a, b = _value(left, letters), _value(right, letters)
            if isinstance(op, ast.Pow) and isinstance(a, Fraction) and isinstance(b, Fraction) and _is_long(a, b):
                a = float(a)
            return _finite(node, functools.partial(_applied, _OPERATIONS[type(op)], a, b))
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as given, keywords=[]) if name in FUNCTIONS:
            least, on_numbers, on_columns = FUNCTIONS[name]
            parts = [_value(part, letters) for part in given]
            if any(isinstance(part, np.ndarray) for part in parts):
                columns = [part if isinstance(part, np.ndarray) else float(part) for part in parts]
                return _finite(
                    node, lambda: functools.reduce(on_columns, columns) if least > 1 else on_columns(*columns)
                )
            return _finite(node, lambda: on_numbers(*parts))
    raise NoValue(ast.unparse(node))


def _is_long(base: Fraction, power: Fraction) -> bool:
    bits = base.numerator.bit_length() + base.denominator.bit_length()
    return power.denominator == 1 and abs(power) * bits > _BITS


def _applied(operation: Callable[[Any, Any], Any], a: Value, b: Value) -> Any:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = (part if isinstance(part, np.ndarray) else float(part) for part in (a, b))
    return operation(a, b)


def _finite(node: ast.expr, compute: Callable[[], Any]) -> Value:
    # Checked at every part: max(log(x), 0) would hide that a logarithm does not exist.
    try:
        with np.errstate(all="ignore"):
            found = compute()
        if isinstance(found, np.ndarray):
            bad = np.flatnonzero(~np.isfinite(found))
            if bad.size:
                raise NoValue(ast.unparse(node), int(bad[0]))
        elif isinstance(found, complex) or not math.isfinite(found):
            raise NoValue(ast.unparse(node))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise NoValue(ast.unparse(node)) from None
    return found


def order_of(node: ast.expr, letter: str) -> tuple[Scalar, Scalar]:
    """The exponent of the letter, and the constant of an exponential in it; constant factors do not matter.

    **Raises:** NoOrder for what is neither a power nor an exponential of the letter.
    """
    with contextlib.suppress(NoValue):
        formula_value(node, CONSTANTS)
        return Fraction(0), Fraction(0)
    match node:
        case ast.Name(id=name) if name == letter:
            return Fraction(1), Fraction(0)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return order_of(inner, letter)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            (p, c), (q, d) = order_of(left, letter), order_of(right, letter)
            sign = 1 if isinstance(op, ast.Mult) else -1
            return p + sign * q, c + sign * d
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            p, c = order_of(left, letter)
            try:
                power = formula_value(right, CONSTANTS)
            except NoValue:
                raise NoOrder("an exponent is a number.") from None
            assert not isinstance(power, np.ndarray)
            return power * p, power * c
        case ast.Call(func=ast.Name(id="sqrt"), args=[inner], keywords=[]):
            p, c = order_of(inner, letter)
            return p / 2, c / 2
        case ast.Call(func=ast.Name(id="exp"), args=[inner], keywords=[]):
            try:
                at: list[Any] = [formula_value(inner, {**CONSTANTS, letter: Fraction(x)}) for x in (0, 1, 2)]
            except NoValue:
                at = [0, 0, 1]
            # Linear iff the second difference vanishes; four roundings of numbers this large may separate it from zero.
            if abs(at[2] - 2 * at[1] + at[0]) <= 4 * 2.0**-52 * max(map(abs, at)):
                return Fraction(0), at[1] - at[0]
            raise NoOrder(f"only exponentials of a multiple of {letter} are decided.")
        case ast.Call(func=ast.Name(id="log")):
            raise LogarithmicOrder
    raise NoOrder(f"the right side is no power of {letter} and no exponential in it.")
