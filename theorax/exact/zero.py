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

from theorax.errors import UsageError
from theorax.exact.normal_forms import vanishes
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


def is_zero(expression: Any, ranges: Ranges | None = None, seed: int = 0) -> ZeroFinding:
    r"""Test if the expression is zero for all values of its symbols that their assumptions and ``ranges`` allow.

    ========================  ===================================  =====================
    normal form or simplify   balls                                status
    ========================  ===================================  =====================
    zero                      none excludes zero                   proved
    zero                      one excludes zero                    ``Contradiction``
    not zero                  one excludes zero                    refuted
    not zero                  all narrow, all contain zero         unrefuted (balls)
    not zero                  none, wide                           undecided
    any                       real at no point tried               undecided
    ========================  ===================================  =====================

    The normal form is a rational function over $\mathbb{Q}$ in the symbols, the exponentials of the monomials in the
    exponents, roots reduced by their own equation, and any other function as a letter. A proof holds wherever the
    expression is defined.

    **Errors:** a proof rests on FLINT's or SymPy's polynomial arithmetic or, where the reason says so, on SymPy's
    simplifier; all are cross-checked at the points. A refutation rests on Arb alone, its point is exact.

    **Raises:** ``Contradiction``; ``UsageError`` for a symbol whose assumptions no small rational satisfies.
    """
    expression = sympy.sympify(expression)
    # A decimal would be rounded by every rewriting; the dyadic it stores is not.
    expression = expression.xreplace({number: dyadic(number) for number in expression.atoms(sympy.Float)})
    looked = _balls(expression, dict(ranges or {}), random.Random(seed))
    refutation = looked.refutation
    proof = None if looked.nowhere else _proof(expression, refutation is not None)
    if refutation is not None:
        if proof is not None:
            raise Contradiction(
                f"{sympy.srepr(expression)} was proved zero by {proof} and is {refutation.enclosure} "
                f"at {dict(refutation.point)}."
            )
        return refutation
    if proof is not None:
        return ZeroFinding(ZeroTest.PROVED, proof, looked.narrow)
    if looked.obstacle is None:
        reason = f"{looked.narrow} balls of {PRECISION} bits contain zero"
        reason += f", at {looked.complex} points it is no real number" if looked.complex else ""
        return ZeroFinding(ZeroTest.UNREFUTED, reason, looked.narrow)
    return ZeroFinding(ZeroTest.UNDECIDED, looked.obstacle, looked.narrow)


def _proof(expression: sympy.Expr, refuted: bool) -> str | None:
    """The step that proves the zero, if one does; the simplifier is not asked about what is refuted already."""
    if vanishes(expression):
        return "the normal form"
    if refuted or sympy.count_ops(expression) > _MOST_OPERATIONS:
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


def _balls(expression: sympy.Expr, ranges: dict[sympy.Symbol, tuple[Any, Any]], draws: random.Random) -> _Looked:
    symbols = sorted(expression.free_symbols, key=lambda symbol: symbol.sort_key())
    wanted = POINTS if symbols else 1
    narrow, missed, nowhere, obstacle = (
        0,
        0,
        True,
        f"no point was found at which it is a real number, in {_ATTEMPTS} draws",
    )
    for _ in range(_ATTEMPTS if symbols else 1):
        point = {symbol: _draw(symbol, ranges.get(symbol), draws) for symbol in symbols}
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
    return _Looked(None, narrow, obstacle, missed, nowhere)


def _draw(symbol: sympy.Symbol, bounds: tuple[Any, Any] | None, draws: random.Random) -> sympy.Rational:
    """A small rational that every assumption of the symbol admits, inside the bounds if there are any."""
    low, high = (sympy.Rational(bound) for bound in bounds) if bounds else (sympy.Rational(-6), sympy.Rational(6))
    for _ in range(_ATTEMPTS):
        denominator = 1 if symbol.is_integer else draws.choice((7, 11, 13, 64))
        value = low + (high - low) * sympy.Rational(draws.randrange(1, 60), 60)
        value = sympy.Rational(round(Fraction(value.p * denominator, value.q)), denominator)
        inside = low < value < high if bounds else True
        if inside and all(_agrees(value, name, wanted) for name, wanted in symbol.assumptions0.items()):
            return value
    raise UsageError(
        f"No small rational satisfies the assumptions of `{symbol}`{f' between {low} and {high}' if bounds else ''}. "
        "Widen its range, or state fewer assumptions."
    )


def _agrees(value: sympy.Rational, name: str, wanted: bool) -> bool:
    known = getattr(value, f"is_{name}", None)
    return known is None or known == wanted
