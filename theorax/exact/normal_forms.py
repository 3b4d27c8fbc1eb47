r"""Normal form of expressions as rational functions over $\mathbb{Q}$ in letters, with equations for roots.

Letters are symbols, $e^m$ for the monomials $m$ of exponents, $b^{1/q}$ for roots and $b^m$ for symbolic powers of
positive $b$, and every other function of its arguments. Two letters for one number, or letters with an unknown
relation, make the form incomplete, never wrong: a form that vanishes is a proof, one that does not says nothing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import flint
import sympy

_MOST_OPERATIONS = 50_000
"""Larger expressions are not expanded."""

_MOST_PRODUCTS = 4_000_000
"""Polynomials with more pairs of terms are not multiplied."""

_LARGEST_POWER = 64
"""Sums are raised to no larger power."""

_LARGEST_OF_A_TERM = 10_000
"""Single terms are raised to no larger power."""

_HYPERBOLIC = (sympy.sinh, sympy.cosh, sympy.tanh, sympy.coth, sympy.sech, sympy.csch)


def vanishes(expression: sympy.Expr) -> bool:
    """True if the normal form is zero; then the expression is zero wherever it is defined.

    **Errors:** none on the side of zero. A root is reduced by $r^q = b$ only, so zeros that need a factorisation of $b$
    or a relation between two functions are missed.
    """
    if expression == 0:
        return True
    if expression.is_commutative is False:
        return False
    if (rational := _quotient(expression, sorted(expression.free_symbols, key=_by_name))) is not None:
        return bool(rational.above == 0)
    if expression.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo) or sympy.count_ops(expression) > _MOST_OPERATIONS:
        return False
    letters = _Letters(_prepared(expression))
    encoded = letters.encode(letters.expression)
    found = _quotient(encoded, list(letters.letters.values()))
    return found is not None and letters.is_zero(found.above) and not letters.is_zero(found.below)


def _by_name(symbol: sympy.Symbol) -> Any:
    return symbol.sort_key()


@final
@dataclass(frozen=True)
class _Quotient:
    """A polynomial over another one, not reduced: a factor that is zero is not cancelled."""

    above: Any
    below: Any

    def __add__(self, other: _Quotient) -> _Quotient:
        common = self.below.gcd(other.below)
        own, others = self.below / common, other.below / common
        return _Quotient(_times(self.above, others) + _times(other.above, own), _times(self.below, others))

    def __mul__(self, other: _Quotient) -> _Quotient:
        return _Quotient(_times(self.above, other.above), _times(self.below, other.below))

    def power(self, exponent: int) -> _Quotient:
        """An integer power of it."""
        above, below = (self.above, self.below) if exponent >= 0 else (self.below, self.above)
        largest = _LARGEST_POWER if max(len(above), len(below)) > 1 else _LARGEST_OF_A_TERM
        if below == 0 or abs(exponent) > largest:
            raise _NoQuotient
        return _Quotient(_power(above, abs(exponent)), _power(below, abs(exponent)))


class _NoQuotient(Exception):
    """A division by zero, or a polynomial too large to be written out."""


def _times(left: Any, right: Any) -> Any:
    if len(left) * len(right) > _MOST_PRODUCTS:
        raise _NoQuotient
    return left * right


def _power(base: Any, exponent: int) -> Any:
    if len(base) <= 1:
        return base**exponent
    total = base.context().constant(1)
    for _ in range(exponent):
        total = _times(total, base)
    return total


def _quotient(expression: sympy.Expr, symbols: Sequence[sympy.Symbol]) -> _Quotient | None:
    r"""The expression over $\mathbb{Q}$ in these symbols, by FLINT; nothing if it is no rational function, or too large."""
    ring = flint.fmpq_mpoly_ctx.get([f"x{place}" for place in range(len(symbols))], flint.Ordering.lex)
    one = ring.constant(1)
    known: dict[Any, _Quotient | None] = {
        symbol: _Quotient(letter, one) for symbol, letter in zip(symbols, ring.gens(), strict=True)
    }

    def value(node: Any) -> _Quotient | None:
        if node not in known:
            known[node] = compute(node)
        return known[node]

    def compute(node: Any) -> _Quotient | None:
        if isinstance(node, sympy.Rational):
            return _Quotient(ring.constant(flint.fmpq(int(node.p), int(node.q))), one)
        if isinstance(node, sympy.Pow) and node.exp.is_Integer:
            base = value(node.base)
            return None if base is None else base.power(int(node.exp))
        if not isinstance(node, sympy.Add | sympy.Mul):
            return None
        total = value(node.args[0])
        for part in node.args[1:]:
            if total is None or (more := value(part)) is None:
                return None
            total = total + more if isinstance(node, sympy.Add) else total * more
        return total

    try:
        return value(expression)
    except _NoQuotient:
        return None


def _prepared(expression: sympy.Expr) -> sympy.Expr:
    # Each rewriting is an identity of real functions under the symbols' own assumptions (no `force`).
    if expression.has(*_HYPERBOLIC):
        expression = expression.rewrite(_HYPERBOLIC, sympy.exp)
    expression = sympy.expand_log(expression)
    return sympy.expand_power_base(expression)


class _Letters:
    """The letters of one expression, chosen so that every exponent in it is an integer multiple."""

    def __init__(self, expression: sympy.Expr):
        self.expression = expression
        self.letters: dict[Any, sympy.Dummy] = {}
        # Of a root, its order and what it is the root of.
        self.equations: dict[sympy.Dummy, tuple[int, sympy.Expr]] = {}
        coefficients: dict[tuple[Any, Any], list[sympy.Rational]] = defaultdict(list)
        for node in sympy.preorder_traversal(expression):
            for base, monomial, coefficient in _powers(node):
                coefficients[base, monomial].append(coefficient)
        self.units = {key: _unit(values, alone=key[1] == 1) for key, values in coefficients.items()}

    def letter(self, node: Any) -> sympy.Dummy:
        return self.letters.setdefault(node, sympy.Dummy())

    def encode(self, node: Any) -> Any:
        powers = _powers(node)
        if powers:
            return sympy.Mul(*[self.power(*power) for power in powers])
        match node:
            case sympy.Rational():
                return node
            case sympy.Symbol():
                root = self.units.get((node, sympy.S.One))
                return self.power(node, sympy.S.One, sympy.S.One) if root else self.letter(node)
            case sympy.core.numbers.Exp1():
                return self.power(sympy.E, sympy.S.One, sympy.S.One)
            case sympy.Add() | sympy.Mul():
                return node.func(*[self.encode(argument) for argument in node.args])
            case sympy.Pow() if isinstance(node.exp, sympy.Integer):
                return self.encode(node.base) ** node.exp
        return self.letter(node)

    def power(self, base: Any, monomial: Any, coefficient: sympy.Rational) -> Any:
        """``base**(coefficient * monomial)`` as an integer power of the letter ``base**(unit * monomial)``."""
        unit = self.units.get((base, monomial), sympy.S.One)
        if (base, monomial) not in self.letters:
            root = self.letter((base, monomial))
            if monomial == 1 and not isinstance(base, sympy.Symbol) and base != sympy.E:
                self.equations[root] = int(unit.q), self.encode(base)
        return self.letter((base, monomial)) ** (coefficient / unit)

    def is_zero(self, polynomial: Any) -> bool:
        """True if a polynomial in the letters is zero modulo the equations of the roots."""
        symbols = list(self.letters.values())
        # The youngest root first: its equation may hold older ones.
        for root, (order, base) in reversed(self.equations.items()):
            under = _quotient(base, symbols)
            if polynomial == 0 or under is None:
                break
            try:
                polynomial = _reduced(polynomial, symbols.index(root), order, under)
            except _NoQuotient:
                return False
        return bool(polynomial == 0)


def _reduced(polynomial: Any, place: int, order: int, under: _Quotient) -> Any:
    """The polynomial, up to a factor, once the letter in this place to this order is the quotient."""
    ring = polynomial.context()
    parts: dict[int, dict[tuple[int, ...], Any]] = defaultdict(dict)
    for exponents, coefficient in polynomial.to_dict().items():
        turns, rest = divmod(int(exponents[place]), order)
        parts[turns][(*exponents[:place], rest, *exponents[place + 1 :])] = coefficient
    most = max(parts)
    total = ring.constant(0)
    for turns, terms in parts.items():
        scale = _times(_power(under.above, turns), _power(under.below, most - turns))
        total += _times(ring.from_dict(terms), scale)
    return total


def _unit(coefficients: Sequence[sympy.Rational], *, alone: bool) -> sympy.Rational:
    """The largest number of which all are integer multiples; and one too, where the base may stand ``alone``.

    Thirds frozen into a program have numerators of sixteen digits, which no exponent of a polynomial should have.
    """
    above = 1 if alone else math.gcd(*(int(one.p) for one in coefficients))
    return sympy.Rational(above, math.lcm(*(int(one.q) for one in coefficients)))


def _powers(node: Any) -> list[tuple[Any, Any, sympy.Rational]]:
    """The node as a product of powers (base, monomial, rational coefficient); nothing if it is no such power."""
    if isinstance(node, sympy.exp):
        base, exponent = sympy.E, node.args[0]
        if not exponent.is_extended_real:
            return [] if exponent.is_extended_real is False else _split(base, exponent, integers_only=True)
        return _split(base, exponent, integers_only=False)
    if isinstance(node, sympy.Pow) and not isinstance(node.exp, sympy.Integer):
        if node.base.is_positive and node.exp.is_extended_real:
            return _split(node.base, node.exp, integers_only=False)
        if isinstance(node.exp, sympy.Rational) and node.base.is_nonnegative:
            return [(node.base, sympy.S.One, node.exp)]
    return []


def _split(base: Any, exponent: Any, integers_only: bool) -> list[tuple[Any, Any, sympy.Rational]]:
    powers = []
    for term in sympy.Add.make_args(sympy.expand(exponent)):
        coefficient, monomial = term.as_coeff_Mul(rational=True)
        if integers_only and coefficient.q != 1:
            coefficient, monomial = sympy.S.One, term
        powers.append((base, monomial, coefficient))
    return powers
