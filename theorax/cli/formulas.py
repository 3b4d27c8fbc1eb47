"""Right-hand sides as typed: their value as a number, or their order in one letter; nothing in them is ever executed."""

from __future__ import annotations

import ast
import contextlib
import math
import operator
from collections.abc import Callable, Mapping

CONSTANTS = {"pi": math.pi, "e": math.e}
FUNCTIONS = {"sqrt": math.sqrt, "log": math.log, "exp": math.exp}
_OPERATIONS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
UNDEFINED = (ValueError, ZeroDivisionError, OverflowError)  # what has no value as a real number


class NoOrder(Exception):
    """A right side whose order in its letter cannot be decided; the message says why."""


class Logarithm(NoOrder):
    """A right side that holds a logarithm of its letter."""


def number_of(node: ast.expr, letters: Mapping[str, float] = CONSTANTS) -> float:
    """A number made of numbers, + - * / **, pi, e, sqrt, log and exp."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case ast.Name(id=name) if name in letters:
            return letters[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -number_of(inner, letters)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return number_of(inner, letters)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            found = _OPERATIONS[type(op)](number_of(left, letters), number_of(right, letters))
            if isinstance(found, complex):
                raise ValueError(found)
            return found
        case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](number_of(inner, letters))
    raise ValueError(ast.dump(node))


def order_of(node: ast.expr, letter: str) -> tuple[float, float]:
    """The exponent of the letter, and the constant of an exponential in it; constant factors are of no account.

    **Raises:** NoOrder for what is neither a power nor an exponential of the letter.
    """
    with contextlib.suppress(*UNDEFINED):
        number_of(node)
        return 0.0, 0.0
    match node:
        case ast.Name(id=name) if name == letter:
            return 1.0, 0.0
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return order_of(inner, letter)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            (p, c), (q, d) = order_of(left, letter), order_of(right, letter)
            sign = 1 if isinstance(op, ast.Mult) else -1
            return p + sign * q, c + sign * d
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            p, c = order_of(left, letter)
            try:
                power = number_of(right)
            except UNDEFINED:
                raise NoOrder("an exponent is a number.") from None
            return power * p, power * c
        case ast.Call(func=ast.Name(id="sqrt"), args=[inner], keywords=[]):
            p, c = order_of(inner, letter)
            return p / 2, c / 2
        case ast.Call(func=ast.Name(id="exp"), args=[inner], keywords=[]):
            try:
                at = [number_of(inner, {**CONSTANTS, letter: x}) for x in (0.0, 1.0, 2.0)]
            except UNDEFINED:
                at = [0.0, 0.0, 1.0]
            # Linear iff the second difference vanishes; four roundings of numbers this large may separate it from zero.
            if abs(at[2] - 2 * at[1] + at[0]) <= 4 * 2.0**-52 * max(map(abs, at)):
                return 0.0, at[1] - at[0]
            raise NoOrder(f"only exponentials of a multiple of {letter} are decided.")
        case ast.Call(func=ast.Name(id="log")):
            raise Logarithm
    raise NoOrder(f"the right side is no power of {letter} and no exponential in it.")
