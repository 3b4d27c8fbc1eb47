"""Evaluate what an expression leaves to be computed, innermost first, each result held against a second route."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

from sympy import Basic, Derivative, Expr, Integral, Limit, Product, Subs, Sum, sympify

from theorax.exact.second_routes import SecondRoute, one_sided, second_route

NAMES: dict[type, str] = {
    Integral: "sympy.integrate",
    Sum: "sympy.summation",
    Product: "sympy.product",
    Limit: "sympy.limit",
    Derivative: "sympy.diff",
    Subs: "sympy.subs",
}
"""The forms that are computed, each with the function that computes it."""


@dataclass(frozen=True)
class Result:
    """One computation: by what it was made, and how its result was held against a second route."""

    computed_by: str
    node: Expr
    value: Expr
    route: SecondRoute


@dataclass(frozen=True)
class Computed:
    """An expression with nothing left to compute, and the computations in it.

    ``stuck`` holds the forms that computer algebra left as they were.
    """

    value: Expr
    results: tuple[Result, ...] = ()
    stuck: tuple[Expr, ...] = ()


def computes(expression: Basic) -> bool:
    """Does the expression leave something to be computed?"""
    return expression.has(*NAMES)


def evaluated_expression(expression: Basic) -> Computed:
    """Evaluate the integrals, sums, products, limits, derivatives and substitutions in an expression."""
    expression = sympify(expression)
    if not computes(expression):
        return Computed(expression)
    if isinstance(expression, Integral | Sum | Product) and len(expression.limits) > 1:
        # SymPy would merge an integral of an integral again: the inner one is computed alone.
        first, *outer = expression.limits
        inner = evaluated_expression(type(expression)(expression.function, first))
        if inner.stuck:
            return Computed(expression, inner.results, (*inner.stuck, expression))
        rest = evaluated_expression(type(expression)(inner.value, *outer))
        return Computed(rest.value, _distinct([inner.results, rest.results]), rest.stuck)
    parts = [evaluated_expression(part) for part in expression.args]
    results = _distinct(part.results for part in parts)
    stuck = tuple(dict.fromkeys(form for part in parts for form in part.stuck))
    node = expression.func(*(part.value for part in parts))
    if type(node) not in NAMES or stuck:
        return Computed(node, results, stuck)
    result = _result(node)
    if result is None:
        return Computed(node, results, (node,))
    if isinstance(expression, Subs) and isinstance(expression.expr, Derivative):
        result = replace(result, route=one_sided(expression, result.value) or result.route)
    return Computed(result.value, _distinct([results, (result,)]), stuck)


@cache
def _result(node: Expr) -> Result | None:
    try:
        value = node.doit(deep=False)
    except NotImplementedError:
        return None
    if value.has(type(node)):
        return None
    return Result(NAMES[type(node)], node, value, second_route(node, value))


def _distinct(groups: Iterable[tuple[Result, ...]]) -> tuple[Result, ...]:
    return tuple({result.node: result for group in groups for result in group}.values())
