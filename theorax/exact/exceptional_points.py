"""Points of the letters at which a formula may fail though it holds elsewhere, found from the formula itself.

They are zeros of denominators and of what conditions compare, ends of pieces and kinks, zeros of the coefficients that a
bound variable has in an exponent, a power or an angle, and coincidences of two letters. All are exact rational points
that the assumptions of the letters and the scope admit.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy
from sympy import Abs, Derivative, Eq, Expr, Heaviside, Integral, Limit, Max, Min, Pow, Product, Subs, Sum, Symbol
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from theorax.errors import UsageError
from theorax.exact.zero import admissible, admits

__all__ = ["ExceptionalPoint", "admitted", "exceptional_points"]

_SPECIAL = (0, 1, -1)
_DRAWS = 6
"""Values of the other letters that are tried until the place of a letter is admissible."""

_MOST_CONDITIONS = 12
_MOST_PAIRS = 4
_MOST_OPERATIONS = 400
"""Formulas that are written out to find the coefficients in them."""


@dataclass(frozen=True)
class ExceptionalPoint:
    """A point of all letters, and the equation that singles it out."""

    equation: str
    point: dict[Symbol, Any]

    def __str__(self) -> str:
        given = ", ".join(f"{letter} = {number}" for letter, number in self.point.items())
        return f"{self.equation} ({given})" if self.equation and self.equation != given else given


def admitted(point: dict[Symbol, Any], where: Boolean) -> bool:
    """Does the scope admit the point, for certain?"""
    return where == sympy.true or where.subs(point) == sympy.true


def exceptional_points(
    expressions: Iterable[Expr], letters: Iterable[Symbol], where: Boolean = sympy.true
) -> Iterator[ExceptionalPoint]:
    """Admissible exceptional points of these formulas, the most telling first; none twice."""
    source, own, seen = random.Random(1), sorted(letters, key=str), set()
    if not own:
        return
    conditions = _conditions(tuple(expressions), frozenset(own))
    candidates = itertools.chain(
        *(_zeros(condition, own, source) for condition in conditions[:_MOST_CONDITIONS]),
        _everywhere(own, source),
        _coincidences(own, source),
    )
    for found in candidates:
        key = tuple(found.point.items())
        if key not in seen and admitted(found.point, where):
            seen.add(key)
            yield found


def _everywhere(letters: list[Symbol], source: random.Random) -> Iterator[ExceptionalPoint]:
    """All letters 0, 1 or -1 wherever they may be."""
    for number in map(sympy.Integer, _SPECIAL):
        if any(admits(letter, number) for letter in letters):
            point = {letter: number if admits(letter, number) else _drawn(letter, source) for letter in letters}
            yield ExceptionalPoint("", point)


def _coincidences(letters: list[Symbol], source: random.Random) -> Iterator[ExceptionalPoint]:
    """Two letters equal, opposite, one twice the other; then all equal."""
    for one, other in itertools.islice(itertools.combinations(letters, 2), _MOST_PAIRS):
        for first, second in ((one, other), (one, 2 * other), (other, 2 * one), (one, -other)):
            yield from _placed(first, second, letters, source)
    value = _drawn(letters[0], source)
    if len(letters) > 2 and all(admits(letter, value) for letter in letters):
        yield ExceptionalPoint("all letters equal", dict.fromkeys(letters, value))


def _placed(letter: Symbol, value: Expr, letters: list[Symbol], source: random.Random) -> Iterator[ExceptionalPoint]:
    """The first admissible point at which the letter has this value in the others."""
    for _ in range(_DRAWS):
        point = {other: _drawn(other, source) for other in letters if other != letter}
        number = value.subs(point)
        if number.is_Rational and admits(letter, number):
            yield ExceptionalPoint(str(f"{letter} = {value}"), {**point, letter: number})
            return


def _zeros(condition: Expr, letters: list[Symbol], source: random.Random) -> Iterator[ExceptionalPoint]:
    """Points at which the formula vanishes, one for each letter of it if they are rational."""
    for letter in sorted(condition.free_symbols, key=str):
        slope = sympy.diff(condition, letter)
        if not slope.has(letter):
            if slope != 0:
                value = sympy.cancel(letter - condition / slope)
                yield from _placed(letter, value, letters, source)
        elif condition.is_polynomial(letter):
            yield from _at_roots(condition, letter, letters, source)


def _at_roots(
    condition: Expr, letter: Symbol, letters: list[Symbol], source: random.Random
) -> Iterator[ExceptionalPoint]:
    for _ in range(_DRAWS):
        point = {other: _drawn(other, source) for other in letters if other != letter}
        here = condition.subs(point)
        if not here.has(letter) or not all(c.is_Rational for c in sympy.Poly(here, letter).all_coeffs()):
            continue
        roots = [root for root in sympy.Poly(here, letter).ground_roots() if admits(letter, root)]
        for root in roots:
            yield ExceptionalPoint(str(Eq(condition, 0, evaluate=False).lhs) + " = 0", {**point, letter: root})
        if roots:
            return


def _drawn(letter: Symbol, source: random.Random) -> sympy.Rational:
    try:
        return admissible(letter, (-3, 3), source)
    except UsageError:
        return admissible(letter, None, source)


@cache
def _conditions(expressions: tuple[Expr, ...], letters: frozenset[Symbol]) -> list[Expr]:
    """Formulas of the letters alone whose zeros are exceptional, factor by factor."""
    found: dict[Expr, None] = {}
    for raw in itertools.chain(*map(_raw, expressions)):
        if raw.free_symbols and raw.free_symbols <= letters:
            found.update(dict.fromkeys(_factors(raw)))
    # A letter alone is zero among the points at which all letters are.
    return sorted((part for part in found if not part.is_Symbol), key=lambda part: (part.count_ops(), str(part))) + [
        part for part in sorted(found, key=str) if part.is_Symbol
    ]


def _raw(expression: Expr) -> Iterator[Expr]:
    for power in expression.atoms(Pow):
        if not power.exp.is_nonnegative:
            yield power.base
    for relation in expression.atoms(Relational):
        yield relation.lhs - relation.rhs
    for function in expression.atoms(Abs, sympy.sign, Heaviside):
        yield function.args[0]
    for extreme in expression.atoms(Max, Min):
        yield from (one - other for one, other in itertools.combinations(extreme.args, 2))
    for node in expression.atoms(Integral, Sum, Product, Limit, Derivative, Subs):
        yield from _coefficients(node)


def _coefficients(node: Any) -> Iterator[Expr]:
    """Coefficients that the bound variable has in exponents, powers and angles: the form degenerates at their zeros."""
    bound = node.free_symbols ^ node.atoms(Symbol)
    if isinstance(node, Limit):
        bound |= {node.args[1]}
    parts = [node.args[0]]
    for part in node.args[0].atoms(sympy.Function, Pow):
        parts += part.args
    for variable in sorted(bound, key=str):
        for part in parts:
            if part.has(variable) and part.count_ops() < _MOST_OPERATIONS and part.is_polynomial(variable):
                yield from sympy.Poly(part, variable).all_coeffs()[:-1]
        for power in node.args[0].atoms(Pow):
            if power.base.has(variable) and not power.exp.has(variable):
                yield power.exp + 1


def _factors(formula: Expr) -> list[Expr]:
    if formula.count_ops() > _MOST_OPERATIONS:
        return [formula]
    try:
        _, parts = sympy.factor_list(sympy.numer(sympy.together(formula)))
    except (sympy.PolynomialError, NotImplementedError):
        return [formula]
    return [part for part, _ in parts if part.free_symbols]
