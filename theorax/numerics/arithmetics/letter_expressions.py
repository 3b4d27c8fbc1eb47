"""SymPy expressions in any scalar domain: their letters are carriers, every rational a quotient of integers."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from sympy import Add, E, Expr, Function, Integer, Max, Min, Mul, Pow, Product, Rational, Sum, pi

from theorax.numerics.arithmetics.domain import UNARY, Domain, ObjectDomain
from theorax.numerics.arithmetics.failures import UnsupportedPrimitive

__all__ = ["in_domain"]

_NAMES = {"ceiling": "ceil", "loggamma": "lgamma"}


def in_domain(expression: Expr, domain: Domain[Any], letter: Callable[[Any], Any]) -> Any:
    """The expression in the arithmetic of the domain; ``letter`` gives the carriers of a letter, None for other nodes.

    A function, a sum or a product that SymPy's ``doit`` writes out stands for what is written out.

    **Raises:** ``UnsupportedPrimitive`` for a function that the arithmetic does not have, and for an unknown letter.
    """
    known: dict[Any, Any] = {}

    def value(node: Any) -> Any:
        if node not in known:
            given = letter(node)
            known[node] = made(node) if given is None else given
        return known[node]

    def fold(name: str, nodes: Any) -> Any:
        return reduce(lambda x, y: domain.binary(name, x, y), map(value, nodes))

    def made(node: Any) -> Any:
        match node:
            case Integer() if isinstance(domain, ObjectDomain):
                return _whole(int(node), domain)
            case Rational():
                # In floats an integer is a quotient by one, whose rounding is accounted for like any other's.
                return domain.binary("div", _whole(node.p, domain), _whole(node.q, domain))
            case Add():
                return fold("add", node.args)
            case Mul():
                return fold("mul", node.args)
            case Max() | Min():
                return fold("max" if isinstance(node, Max) else "min", node.args)
            case Pow() if node.exp.is_Integer:
                return domain.power(value(node.base), int(node.exp))
            case Pow() if node.exp.is_Rational and node.exp.q == 2:
                return domain.power(domain.unary("sqrt", value(node.base)), int(node.exp.p))
            case Pow():
                return fold("pow", (node.base, node.exp))
        if node is pi:
            return fold("mul", (Integer(4), _Arc(Integer(1))))
        if node is E:
            return domain.unary("exp", value(Integer(1)))
        if isinstance(node, Function) and len(node.args) == 1:
            name = type(node).__name__.lower()
            name = _NAMES.get(name, "atan" if isinstance(node, _Arc) else name)
            if name in UNARY:
                return domain.unary(name, value(node.args[0]))
        if isinstance(node, Function | Sum | Product) and (written := node.doit()) != node:
            return value(written)
        raise UnsupportedPrimitive(str(node), domain.name, "an expression of letters cannot hold it")

    with domain.working():
        return value(expression)


def _whole(number: int, domain: Domain[Any]) -> Any:
    """A whole number of any length, in digits that every float holds."""
    if abs(number) < 2**53:
        return domain.lift(np.asarray(float(number)))
    high, low = divmod(number, 2**32)
    top = domain.binary("mul", _whole(high, domain), domain.lift(np.asarray(2.0**32)))
    return domain.binary("add", top, domain.lift(np.asarray(float(low))))


class _Arc(Function):
    """The arc tangent, left unevaluated: SymPy would turn four times that of one back into pi."""
