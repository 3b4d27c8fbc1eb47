"""SymPy expressions as recorded scalar programs: every rational is a quotient of integers, no constant is rounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import jax.numpy as jnp
from sympy import Add, Dummy, E, Expr, Function, Integer, Max, Min, Mul, Pow, Rational, Symbol, lambdify, pi

from theorax.numerics.arithmetics.domain import UNARY
from theorax.numerics.arithmetics.failures import UnsupportedPrimitive
from theorax.numerics.arithmetics.tape import Tape, TapeNode

__all__ = ["floats", "recorded"]

_NAMES = {"ceiling": "ceil", "loggamma": "lgamma"}


def recorded(expression: Expr, letters: Sequence[Symbol], tape: Tape, inputs: Sequence[TapeNode]) -> TapeNode:
    """The expression as operations on the tape, its letters being the inputs.

    A function that SymPy's ``doit`` writes out, such as a sum over nodes, is recorded as what it stands for.

    **Raises:** ``UnsupportedPrimitive`` for a function without an enclosure, and for a letter that is no input.
    """
    places = dict(zip(letters, inputs, strict=True))
    known: dict[Any, TapeNode] = {}

    def value(node: Any) -> TapeNode:
        if node not in known:
            known[node] = made(node)
        return known[node]

    def fold(name: str, nodes: Sequence[Any]) -> TapeNode:
        two = tape.operations[name]
        return reduce(two, map(value, nodes))

    def made(node: Any) -> TapeNode:
        if node in places:
            return places[node]
        match node:
            case Integer():
                return tape.scalar(int(node))
            case Rational():
                return fold("div", (Integer(node.p), Integer(node.q)))
            case Add():
                return fold("add", node.args)
            case Mul():
                return fold("mul", node.args)
            case Max():
                return fold("max", node.args)
            case Min():
                return fold("min", node.args)
            case Pow() if node.exp.is_Integer:
                return tape.integer_power(value(node.base), int(node.exp))
            case Pow() if node.exp.is_Rational and node.exp.q == 2:
                return tape.integer_power(tape.functions["sqrt"](value(node.base)), int(node.exp.p))
            case Pow():
                return fold("pow", (node.base, node.exp))
        if node is pi:
            return fold("mul", (Integer(4), _Arc(Integer(1))))
        if node is E:
            return tape.functions["exp"](tape.scalar(1))
        if isinstance(node, Function) and len(node.args) == 1:
            name = type(node).__name__.lower()
            name = _NAMES.get(name, "atan" if isinstance(node, _Arc) else name)
            if name in UNARY:
                return tape.functions[name](value(node.args[0]))
        if isinstance(node, Function) and (written := node.doit()) != node:
            return value(written)
        raise UnsupportedPrimitive(str(node), "ball", "an expression over a box cannot hold it")

    return value(expression)


def floats(expression: Expr, letters: Sequence[Symbol]) -> Callable[[Any], Any]:
    """The expression as a JAX function of one vector, rounded: for proposing points, never for deciding at them."""
    # What is written out stays outside the expression: built anew, a maximum of long sums is compared term by term.
    written = {node: Dummy() for node in expression.atoms(Function) if node.doit() != node}
    compiled = lambdify([tuple(letters), tuple(written.values())], expression.xreplace(written), "jax")
    inner = lambdify([tuple(letters)], [node.doit() for node in written], "jax")

    def function(x: Any) -> Any:
        values = [x[place] for place in range(len(letters))]
        return jnp.asarray(compiled(values, inner(values)), dtype=x.dtype)

    return function


class _Arc(Function):
    """The arc tangent, left unevaluated: SymPy would turn four times that of one back into pi."""
