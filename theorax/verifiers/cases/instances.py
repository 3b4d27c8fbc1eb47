"""One instance of a claim in any arithmetic: what was measured as arrays of carriers, and expressions on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any

import numpy as np
from sympy import Add, Expr, Function, Max, Min, Mul, Pow, Rational

from theorax.language import Measured
from theorax.numerics.arithmetics import Ball, Domain, UnsupportedPrimitive, evaluate
from theorax.numerics.arithmetics.expressions import ball_of
from theorax.verifiers.cases.sweep_lines import Cell

Observe = Callable[..., Mapping[str, Any]]


def letters(
    wanted: Iterable[Measured] | None, observe: Observe, model: Any, read: Mapping[str, Any], domain: Domain[Any]
) -> dict[str, Any]:
    """The measured letters of one model, or all that it returns, the program that measures them run in ``domain``.

    Steps that only other letters need are not run: one letter that cannot be followed leaves the others decidable.

    **Raises:** ``UnsupportedPrimitive`` and ``UndecidedComparison`` as ``evaluate``.
    """
    names = None if wanted is None else {letter.name for letter in wanted}

    def program(model: Any) -> dict[str, Any]:
        seen = observe(model, **read)
        return {name: entry for name, entry in seen.items() if names is None or name in names}

    return {name: _carried(entry, domain) for name, entry in evaluate(program, (model,), domain).items()}


def on(expression: Expr, cell: Cell, size: int, seen: Mapping[str, Any], domain: Domain[Any]) -> Any:
    """The expression, entry by entry, at the cell's choice of indices; its numbers are exact in every arithmetic.

    Arrays over an index hold its values 1, 2, ... up to the largest asked for, or exactly those asked for.

    **Raises:** ``UnsupportedPrimitive`` for a function that the arithmetic does not have.
    """

    def column(letter: Measured) -> Any:
        entries = seen[letter.name]
        for index in letter.over:
            shape = domain.shape(entries)
            places = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
            along, chosen = cell.line.along[index], cell.chosen[index]
            entries = domain.take(entries, places[chosen - 1 if shape[0] == max(along) else along.index(chosen)])
        return entries

    with domain.working():
        return _value(cell.exact(expression, size), domain, column)


def number(expression: Expr, domain: Domain[Any]) -> Any:
    """An exact constant as one carrier.

    **Raises:** ``UnsupportedPrimitive`` for a function that the arithmetic does not have.
    """
    if isinstance(domain, Ball):
        return np.array(ball_of(expression, {}, domain.precision), dtype=object)
    with domain.working():
        return _value(expression, domain, None)


def _value(node: Any, domain: Domain[Any], column: Callable[[Measured], Any] | None) -> Any:
    def value(part: Any) -> Any:
        return _value(part, domain, column)

    match node:
        case Measured() if column is not None:
            return column(node)
        case Rational():
            return domain.binary("div", _whole(node.p, domain), _whole(node.q, domain))
        case Add():
            return reduce(lambda x, y: domain.binary("add", x, y), map(value, node.args))
        case Mul():
            return reduce(lambda x, y: domain.binary("mul", x, y), map(value, node.args))
        case Max() | Min():
            name = "max" if isinstance(node, Max) else "min"
            return reduce(lambda x, y: domain.binary(name, x, y), map(value, node.args))
        case Pow() if node.exp.is_Integer:
            return domain.power(value(node.base), int(node.exp))
        case Pow() if node.exp.is_Rational and node.exp.q == 2:
            return domain.power(domain.unary("sqrt", value(node.base)), int(node.exp.p))
        case Pow():
            return domain.binary("pow", value(node.base), value(node.exp))
        case Function() if len(node.args) == 1:
            return domain.unary(type(node).__name__.lower(), value(node.args[0]))
    raise UnsupportedPrimitive(str(node), domain.name, "an expression of measured letters cannot hold it")


def _whole(number: int, domain: Domain[Any]) -> Any:
    """A whole number of any length, in digits that every float holds."""
    if abs(number) < 2**53:
        return domain.lift(np.asarray(float(number)))
    high, low = divmod(number, 2**32)
    top = domain.binary("mul", _whole(high, domain), domain.lift(np.asarray(2.0**32)))
    return domain.binary("add", top, domain.lift(np.asarray(float(low))))


def _carried(entry: Any, domain: Domain[Any]) -> Any:
    """Whole numbers that the program returned, as carriers too."""
    return entry if domain.owns(entry) else domain.lift(np.asarray(entry))
