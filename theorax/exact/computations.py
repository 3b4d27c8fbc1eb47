"""Evaluate what an expression leaves to be computed, innermost first, each result held against a second route."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

import sympy
from sympy import Basic, Derivative, Expr, Integral, Limit, Product, Subs, Sum, sympify
from sympy.logic.boolalg import Boolean

from theorax.exact.second_routes import SecondRoute, second_route
from theorax.exact.time_limits import OverTime, limited

NAMES: dict[type, str] = {
    Integral: "sympy.integrate",
    Sum: "sympy.summation",
    Product: "sympy.product",
    Limit: "sympy.limit",
    Derivative: "sympy.diff",
    Subs: "sympy.subs",
}
"""The forms that are computed, each with the function that computes it."""

LONGEST_COMPUTATION = 60.0
"""Seconds of processor time for one computation, one zero test or one second route: computer algebra has no limit."""

T = TypeVar("T")


class AlgebraFailed(Exception):
    """Computer algebra raised an exception of its own, or took too long; the text names it."""


def settled_or_failed(name: str, computation: Callable[[], T]) -> T:
    """The result of a computation by computer algebra, which may fail in any way.

    **Raises:** AlgebraFailed for an exception that SymPy raises, and after ``LONGEST_COMPUTATION``.
    """
    seconds = LONGEST_COMPUTATION
    try:
        with limited(seconds):
            return computation()
    except OverTime:
        raise AlgebraFailed(f"{name} was ended after {seconds:g} s of processor time") from None
    except Exception as error:
        if not raised_by_algebra(error):
            raise
        told = str(error).split("\n", 1)[0][:120]
        raise AlgebraFailed(f"{name} raised {type(error).__name__}{f' ({told})' if told else ''}") from error


def raised_by_algebra(error: Exception) -> bool:
    """Was the exception raised inside of SymPy, or of what it computes with? A deep recursion ends anywhere."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = (
        any(f"/{package}/" in frames[-1].filename.replace("\\", "/") for package in ("sympy", "mpmath"))
        if frames
        else False
    )
    return inside or isinstance(error, RecursionError)


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

    ``outer``: the same with its outermost forms unevaluated, what is inside of them computed; ``inner``: the results
    in there. ``stuck`` holds the forms that computer algebra left as they were, ``failed`` sentences on those at which it
    failed.
    """

    value: Expr
    outer: Expr
    results: tuple[Result, ...] = ()
    inner: tuple[Result, ...] = ()
    stuck: tuple[Expr, ...] = ()
    failed: tuple[str, ...] = ()


def computes(expression: Basic) -> bool:
    """Does the expression leave something to be computed?"""
    return expression.has(*NAMES)


def evaluated_expression(expression: Basic, where: Boolean = sympy.true) -> Computed:
    """Evaluate the integrals, sums, products, limits, derivatives and substitutions in an expression."""
    expression = sympify(expression)
    if not computes(expression):
        return Computed(expression, expression)
    if isinstance(expression, Integral | Sum | Product) and len(expression.limits) > 1:
        # SymPy would merge an integral of an integral again: the inner one is computed alone.
        first, *outer = expression.limits
        inner = evaluated_expression(type(expression)(expression.function, first), where)
        if inner.stuck:
            stuck = (*inner.stuck, expression)
            return Computed(expression, expression, inner.results, inner.results, stuck, inner.failed)
        rest = evaluated_expression(type(expression)(inner.value, *outer), where)
        return replace(
            rest, results=_distinct([inner.results, rest.results]), inner=_distinct([inner.results, rest.inner])
        )
    parts = [evaluated_expression(part, where) for part in expression.args]
    results = _distinct(part.results for part in parts)
    stuck = tuple(dict.fromkeys(form for part in parts for form in part.stuck))
    failed = tuple(dict.fromkeys(told for part in parts for told in part.failed))
    node = expression.func(*(part.value for part in parts))
    if type(node) not in NAMES:
        whole = expression.func(*(part.outer for part in parts))
        return Computed(node, whole, results, _distinct(part.inner for part in parts), stuck, failed)
    if stuck:
        return Computed(node, node, results, results, stuck, failed)
    # Differences are taken of the function itself: a formula of its derivative may have a value at a kink.
    is_slope = isinstance(expression, Subs) and isinstance(expression.expr, Derivative)
    is_slope = is_slope and not computes(expression.expr.expr)
    whole = expression if is_slope else node
    try:
        value = _value(node)
    except AlgebraFailed as error:
        return Computed(node, whole, results, () if is_slope else results, (node,), (str(error),))
    if value is None:
        return Computed(node, whole, results, () if is_slope else results, (node,))
    route = _route(whole, value, where)
    if is_slope and route.agrees is not None:
        # The formula of the derivative is needed at the place alone: a kink elsewhere does no harm.
        made = f"{NAMES[Derivative]}; {NAMES[Subs]}"
        return Computed(value, whole, (Result(made, node, value, route),))
    if is_slope and not route.left_open:
        whole, is_slope, route = node, False, _route(node, value, where)
    result = Result(NAMES[type(node)], node, value, route)
    return Computed(value, whole, _distinct([results, (result,)]), () if is_slope else results)


@cache
def _value(node: Expr) -> Expr | None:
    """The value that computer algebra finds; None where it leaves the node, or part of it, as it is."""
    try:
        value = settled_or_failed(NAMES[type(node)], lambda: node.doit(deep=False))
    except AlgebraFailed as error:
        if isinstance(error.__cause__, NotImplementedError):
            return None
        raise
    return None if value.has(type(node)) else value


@cache
def _route(node: Expr, value: Expr, where: Boolean) -> SecondRoute:
    try:
        return settled_or_failed("the second route", lambda: second_route(node, value, where))
    except AlgebraFailed as error:
        return SecondRoute(None, str(error))


def _distinct(groups: Iterable[tuple[Result, ...]]) -> tuple[Result, ...]:
    return tuple({result.node: result for group in groups for result in group}.values())
