"""Boxes and the functions on them as a user gives them: exact ends, names or places, every refusal a sentence."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np

from theorax.errors import UsageError
from theorax.names import many

__all__ = ["Bounds", "Function", "applied_function", "box_sides", "exact_bound", "of_vector", "whole_number"]

Function = Callable[..., Any]
Bounds = Mapping[str, Sequence[Any]] | Sequence[Sequence[Any]]


def exact_bound(number: Any, what: str) -> Fraction:
    """A number of a box without any rounding.

    **Raises:** ``UsageError`` for what is no finite real number.
    """
    if isinstance(number, np.generic):
        number = number.item()
    if isinstance(number, bool) or not isinstance(number, Real):
        found = getattr(number, "p", None), getattr(number, "q", None)  # SymPy's rationals are no numbers to Python
        if all(isinstance(part, Integral) for part in found):
            return Fraction(int(found[0]), int(found[1]))  # type: ignore[arg-type]
        raise UsageError(
            f"{what} = {number!r} is no real number. A box has exact ends. Write an integer, a Fraction or a float."
        )
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    if not math.isfinite(number):
        raise UsageError(f"{what} = {number!r} is not finite. Boxes are bounded. Write finite ends.")
    return Fraction(float(number))


def whole_number(what: str, number: Any) -> int:
    """A count of something.

    **Raises:** ``UsageError`` for what is no positive whole number.
    """
    if not isinstance(number, Integral) or isinstance(number, bool) or number < 1:
        raise UsageError(f"{what}={number!r} is no count. Write a positive whole number.")
    return int(number)


def box_sides(box: Bounds) -> tuple[tuple[str, ...], tuple[tuple[Fraction, Fraction], ...]]:
    """The names and the exact sides of a box.

    **Raises:** ``UsageError`` for what is no product of bounded intervals.
    """
    if not isinstance(box, Mapping | Sequence | np.ndarray) or isinstance(box, str):
        raise UsageError(
            f"A box of type {type(box).__name__} has no sides. A box is a product of intervals. "
            'Write {"x": (0, 1)} or [(0, 1), (0, 1)].'
        )
    if not len(box):
        raise UsageError("The box has no side. There is no point to look at. Write {'x': (0, 1)} or [(0, 1)].")
    named = box.items() if isinstance(box, Mapping) else ((f"x[{place}]", side) for place, side in enumerate(box))
    names, sides = [], []
    for name, side in named:
        try:
            low, high = side
        except (TypeError, ValueError):
            raise UsageError(
                f"The side {name} = {side!r} is no pair. A side is an interval. Write (lower, upper)."
            ) from None
        lower, upper = exact_bound(low, f"The lower end of {name}"), exact_bound(high, f"The upper end of {name}")
        if lower > upper:
            raise UsageError(
                f"The side {name} = ({low!r}, {high!r}) is empty: its lower end lies above its upper end. "
                f"Write ({high!r}, {low!r})."
            )
        names.append(str(name))
        sides.append((lower, upper))
    return tuple(names), tuple(sides)


def of_vector(function: Function, names: Sequence[str], by_name: bool) -> Function:
    """The function of one vector that this function of named numbers is.

    **Raises:** ``UsageError`` if it does not take what the box holds.
    """
    if not callable(function):
        raise UsageError(
            f"{function!r} is no function. Both sides of an inequality are functions. Write lambda x: ... for a constant."
        )
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        signature = None
    # A function of NumPy's kind takes its numbers by place and knows no names: the order of the box is theirs.
    placed = signature is not None and any(
        part.kind is inspect.Parameter.POSITIONAL_ONLY for part in signature.parameters.values()
    )
    try:
        if signature is not None:
            if by_name and not placed:
                signature.bind(**dict.fromkeys(names))
            else:
                signature.bind(*(names if by_name else (None,)))
    except TypeError as error:
        takes = ", ".join(signature.parameters) if signature is not None else ""
        what = f"numbers named {', '.join(names)}" if by_name else f"one vector of {many(len(names), 'number')}"
        raise UsageError(
            f"The function takes ({takes}), the box gives {what}: {error}. "
            f"Name the sides as the function does: {{{', '.join(f'{part!r}: (0, 1)' for part in takes.split(', '))}}}."
        ) from None
    if by_name and placed:
        return lambda x: function(*(x[place] for place in range(len(names))))
    if by_name:
        return lambda x: function(**{name: x[place] for place, name in enumerate(names)})
    return function


def applied_function(function: Function, otherwise: str, names: Sequence[str], by_name: bool) -> str:
    """The function applied to its numbers, as a statement writes it."""
    label = getattr(function, "__name__", otherwise)
    label = otherwise if label == "<lambda>" else label
    return f"{label}({', '.join(names) if by_name else 'x'})"
