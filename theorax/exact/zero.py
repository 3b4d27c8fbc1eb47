"""Test if an expression is zero: proved by a normal form, or refuted by a ball at an exact point, or neither."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import sympy
from flint import arb
from sympy.functions.combinatorial.factorials import CombinatorialFunction
from sympy.logic.boolalg import Boolean

from theorax.errors import UsageError
from theorax.exact.normal_forms import vanishes
from theorax.names import many
from theorax.numerics.arithmetics.expressions import UnsupportedExpression, ball_of, dyadic
from theorax.numerics.arithmetics.failures import UndecidedComparison

PRECISION = 256
"""Bits of a refutation."""

RADIUS = arb(2) ** -150
"""A ball around zero narrower than this counts as having looked; a wider one says nothing."""

POINTS = 6
"""Exact points at which an expression is evaluated."""

_MOST_OPERATIONS = 250
"""``sympy.simplify`` has no bound of its own; larger expressions are left to the normal form."""

_AT_POLES = 48
"""Draws that are looked at for poles, where the simplifier alone has proved: its identities hold between the poles."""

_WITH_POLES = (CombinatorialFunction, sympy.gamma, sympy.loggamma, sympy.polygamma, sympy.beta, sympy.zeta)

_ATTEMPTS = 400
"""Draws until a symbol's assumptions hold, or a point at which the expression is a real number is found."""

Ranges = Mapping[sympy.Symbol, tuple[Any, Any]]


class Contradiction(RuntimeError):
    """A proof and a counterexample of one claim: this engine, SymPy or Arb has an error, and no verdict can stand."""


class ZeroTest(Enum):
    """Status of a claimed zero, from the weakest to the strongest."""

    REFUTED = "refuted"
    UNDECIDED = "undecided"
    UNREFUTED = "unrefuted (balls)"
    PROVED = "proved"

    @property
    def strength(self) -> int:
        """The place in this order; the weakest entry decides for several."""
        return list(ZeroTest).index(self)


@dataclass(frozen=True)
class ZeroFinding:
    """The result of a zero test.

    ``PROVED`` names the step of the ladder; ``REFUTED`` carries the exact point and the ball there, without zero in it;
    ``UNREFUTED`` says that every one of ``points`` balls contains zero and is narrow; ``UNDECIDED`` says why.
    """

    status: ZeroTest
    reason: str
    points: int = 0
    """Points at which a narrow ball contained zero."""
    point: Mapping[sympy.Symbol, sympy.Rational] = field(default_factory=lambda: MappingProxyType({}))
    enclosure: arb | None = None

    @property
    def proved(self) -> bool:
        """True if the expression is proved zero wherever it is defined."""
        return self.status is ZeroTest.PROVED

    @property
    def refuted(self) -> bool:
        """True if the expression is not zero at ``point``."""
        return self.status is ZeroTest.REFUTED


def is_zero(expression: Any, ranges: Ranges | None = None, seed: int = 0, where: Boolean = sympy.true) -> ZeroFinding:
    r"""Test if the expression is zero for all values of its symbols that assumptions, ``ranges`` and ``where`` allow.

    ========================  ===================================  =====================
    algebra                   balls                                status
    ========================  ===================================  =====================
    normal form zero          none excludes zero                   proved
    normal form zero          one excludes zero                    ``Contradiction``
    any other                 one excludes zero                    refuted
    simplified to zero        narrow at ``POINTS`` points          proved
    simplified to zero        narrow at fewer points               undecided
    not zero                  narrow at ``POINTS`` points          unrefuted (balls)
    not zero                  narrow at fewer points               undecided
    any                       real at no point tried               undecided
    ========================  ===================================  =====================

    A simplifier's identity between gamma functions may fail at their poles, the integers. There is no ball there:
    SymPy's own value at the exact point is asked, and refutes where it is not zero.

    The normal form is a rational function over $\mathbb{Q}$ in the symbols, the exponentials of the monomials in the
    exponents, roots reduced by their own equation, and any other function as a letter. A proof holds wherever the
    expression is defined.

    **Errors:** a proof rests on FLINT's or SymPy's polynomial arithmetic or, where the reason says so, on SymPy's
    simplifier; all are cross-checked at the points. A refutation rests on Arb, at a pole on SymPy's value; its point is
    exact.

    **Raises:** ``Contradiction``; ``UsageError`` for a symbol whose assumptions no small rational satisfies.
    """
    expression = sympy.sympify(expression)
    # A decimal would be rounded by every rewriting; the dyadic it stores is not.
    expression = expression.xreplace({number: dyadic(number) for number in expression.atoms(sympy.Float)})
    limits, draws = dict(ranges or {}), random.Random(seed)
    looked = _balls(expression, limits, draws, where)
    refutation = looked.refutation
    if not looked.nowhere and vanishes(expression):
        if refutation is not None:
            raise Contradiction(
                f"{sympy.srepr(expression)} was proved zero by the normal form and is {refutation.enclosure} "
                f"at {dict(refutation.point)}."
            )
        return ZeroFinding(ZeroTest.PROVED, "the normal form", looked.narrow)
    if refutation is not None:
        return refutation
    simplifier = None if looked.nowhere else _simplifier(expression)
    if simplifier is not None:
        refutation = _at_poles(expression, limits, draws, where)
        if refutation is not None:
            return refutation
        if looked.narrow == _wanted(expression):
            return ZeroFinding(ZeroTest.PROVED, simplifier, looked.narrow)
        reason = (
            f"{simplifier} finds zero, but balls confirm it at {looked.narrow} of {many(_wanted(expression), 'point')}"
        )
        return ZeroFinding(ZeroTest.UNDECIDED, f"{reason}: {looked.obstacle}", looked.narrow)
    if looked.obstacle is None:
        reason = f"{looked.narrow} balls of {PRECISION} bits contain zero"
        reason += f", at {many(looked.complex, 'point')} it is no real number" if looked.complex else ""
        return ZeroFinding(ZeroTest.UNREFUTED, reason, looked.narrow)
    return ZeroFinding(ZeroTest.UNDECIDED, looked.obstacle, looked.narrow)


def _simplifier(expression: sympy.Expr) -> str | None:
    """The simplifier of SymPy that makes it zero, if one does."""
    if sympy.count_ops(expression) > _MOST_OPERATIONS:
        return None
    for name, step in (("trigsimp", sympy.trigsimp), ("simplify", sympy.simplify)):
        if name == "trigsimp" and not expression.has(sympy.functions.elementary.trigonometric.TrigonometricFunction):
            continue
        if step(expression) == 0:
            return f"sympy.{name}"
    return None


@dataclass(frozen=True)
class _Looked:
    """Results of the balls."""

    refutation: ZeroFinding | None = None
    narrow: int = 0
    obstacle: str | None = None
    complex: int = 0
    """Draws at which the expression is no real number; they say nothing."""
    nowhere: bool = False
    """No point was found at which the expression is a real number."""


def _wanted(expression: sympy.Expr) -> int:
    """The number of different points to look at; a number has but one."""
    return POINTS if expression.free_symbols else 1


def _at_poles(
    expression: sympy.Expr, ranges: dict[sympy.Symbol, tuple[Any, Any]], draws: random.Random, where: Boolean
) -> ZeroFinding | None:
    """A refutation by SymPy's value at a point, mostly of whole numbers, at which no ball is finite."""
    symbols = sorted(expression.free_symbols, key=lambda symbol: symbol.sort_key())
    if not symbols or not expression.has(*_WITH_POLES):
        return None
    for turn in range(_AT_POLES):
        point = {symbol: admissible(symbol, ranges.get(symbol), draws, whole=turn % 4 > 0) for symbol in symbols}
        if where.subs(point) != sympy.true:
            continue
        try:
            if ball_of(expression, point, PRECISION).is_finite():
                continue
        except (UnsupportedExpression, UndecidedComparison):
            continue
        value = expression.subs(point)
        try:
            enclosure = ball_of(value, {}, PRECISION)
        except (UnsupportedExpression, UndecidedComparison):  # no real number, or one that is not known
            continue
        if enclosure.is_finite() and not enclosure.contains(0):
            reason = f"no ball is finite at a pole, and SymPy's value there is {value}"
            return ZeroFinding(ZeroTest.REFUTED, reason, 0, MappingProxyType(point), enclosure)
    return None


def _balls(
    expression: sympy.Expr, ranges: dict[sympy.Symbol, tuple[Any, Any]], draws: random.Random, where: Boolean
) -> _Looked:
    symbols = sorted(expression.free_symbols, key=lambda symbol: symbol.sort_key())
    wanted, seen = _wanted(expression), set()
    narrow, missed, nowhere, obstacle = (
        0,
        0,
        True,
        f"no point was found at which it is a real number, in {_ATTEMPTS} draws",
    )
    for _ in range(_ATTEMPTS if symbols else 1):
        point = {symbol: admissible(symbol, ranges.get(symbol), draws) for symbol in symbols}
        if tuple(point.values()) in seen or where.subs(point) != sympy.true:
            continue
        seen.add(tuple(point.values()))
        try:
            enclosure = ball_of(expression, point, PRECISION)
        except UnsupportedExpression as error:
            return _Looked(None, narrow, str(error))
        except UndecidedComparison as error:
            obstacle, nowhere = str(error), False
            continue
        if not enclosure.is_finite():
            missed += 1
            continue
        nowhere = False
        if not enclosure.contains(0):
            reason = f"a ball of {PRECISION} bits excludes zero"
            return _Looked(ZeroFinding(ZeroTest.REFUTED, reason, narrow, MappingProxyType(point), enclosure))
        if not enclosure.rad() < RADIUS:
            obstacle = f"a ball of {PRECISION} bits around zero is wider than 2^-150"
            continue
        narrow += 1
        if narrow == wanted:
            return _Looked(None, narrow, complex=missed)
    if narrow:
        obstacle = f"of {len(seen)} different points that were drawn only {narrow} have a narrow ball"
    return _Looked(None, narrow, obstacle, missed, nowhere)


def admissible(
    symbol: sympy.Symbol, bounds: tuple[Any, Any] | None, draws: random.Random, whole: bool = False
) -> sympy.Rational:
    """A small rational that every assumption of the symbol admits, inside the bounds if there are any.

    ``whole``: an integer wherever there is one.
    """
    low, high = (sympy.Rational(bound) for bound in bounds) if bounds else (sympy.Rational(-6), sympy.Rational(6))
    for attempt in range(_ATTEMPTS):
        integer = symbol.is_integer or (whole and attempt < _ATTEMPTS // 2)
        denominator = 1 if integer else draws.choice((7, 11, 13, 64))
        value = low + (high - low) * sympy.Rational(draws.randrange(1, 60), 60)
        value = sympy.Rational(round(Fraction(value.p * denominator, value.q)), denominator)
        inside = low < value < high if bounds else True
        if inside and admits(symbol, value):
            return value
    raise UsageError(
        f"No small rational satisfies the assumptions of `{symbol}`{f' between {low} and {high}' if bounds else ''}. "
        "Widen its range, or state fewer assumptions."
    )


def admits(symbol: sympy.Symbol, value: sympy.Expr) -> bool:
    """Does the value contradict no assumption of the symbol?"""
    return all(_agrees(value, name, wanted) for name, wanted in symbol.assumptions0.items())


def _agrees(value: sympy.Expr, name: str, wanted: bool) -> bool:
    known = getattr(value, f"is_{name}", None)
    return known is None or known == wanted
