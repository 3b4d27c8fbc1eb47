r"""Normal form of expressions as rational functions over $\mathbb{Q}$ in letters, with equations for roots.

Letters are symbols, $e^m$ for the monomials $m$ of exponents, $b^{1/q}$ for roots and $b^m$ for symbolic powers of
positive $b$, and every other function of its arguments. Two letters for one number, or letters with an unknown
relation, make the form incomplete, never wrong: a form that vanishes is a proof, one that does not says nothing.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import flint
import sympy

_MOST_OPERATIONS = 50_000
"""Larger expressions are not expanded."""

_MOST_TERMS = 200_000
"""Polynomials with more terms are not multiplied further."""

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
    polynomial = _polynomial(expression)
    if polynomial is not None:
        return bool(polynomial == 0)
    if expression.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo) or sympy.count_ops(expression) > _MOST_OPERATIONS:
        return False
    letters = _Letters(_prepared(expression))
    numerator, denominator = sympy.fraction(sympy.together(letters.encode(letters.expression)))
    return letters.is_zero(numerator) and not letters.is_zero(denominator)


def _polynomial(expression: sympy.Expr) -> Any:
    r"""The expression as a polynomial over $\mathbb{Q}$ in its symbols (FLINT); nothing if it is none, or too large."""
    symbols = sorted(expression.free_symbols, key=lambda symbol: symbol.sort_key())
    ring = flint.fmpq_mpoly_ctx.get([f"x{place}" for place in range(len(symbols))], flint.Ordering.lex)
    known: dict[Any, Any] = dict(zip(symbols, ring.gens(), strict=True))

    def value(node: Any) -> Any:
        if node not in known:
            known[node] = compute(node)
        return known[node]

    def compute(node: Any) -> Any:
        if isinstance(node, sympy.Rational):
            return ring.constant(flint.fmpq(int(node.p), int(node.q)))
        if isinstance(node, sympy.Pow) and node.exp.is_Integer and 0 < node.exp <= 64:
            factors = [value(node.base)] * int(node.exp)
        elif isinstance(node, sympy.Add | sympy.Mul):
            factors = [value(part) for part in node.args]
        else:
            return None
        if any(factor is None for factor in factors):
            return None
        total = factors[0]
        for factor in factors[1:]:
            if not isinstance(node, sympy.Add) and len(total) * len(factor) > _MOST_TERMS:
                return None
            total = total + factor if isinstance(node, sympy.Add) else total * factor
        return total

    return value(expression)


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
        self.equations: dict[sympy.Dummy, sympy.Expr] = {}
        denominators: dict[tuple[Any, Any], list[int]] = defaultdict(list)
        for node in sympy.preorder_traversal(expression):
            for base, monomial, coefficient in _powers(node):
                denominators[base, monomial].append(int(coefficient.q))
        self.common = {key: int(sympy.ilcm(1, *values)) for key, values in denominators.items()}

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
                root = self.common.get((node, sympy.S.One))
                return self.power(node, sympy.S.One, sympy.S.One) if root else self.letter(node)
            case sympy.core.numbers.Exp1():
                return self.power(sympy.E, sympy.S.One, sympy.S.One)
            case sympy.Add() | sympy.Mul():
                return node.func(*[self.encode(argument) for argument in node.args])
            case sympy.Pow() if isinstance(node.exp, sympy.Integer):
                return self.encode(node.base) ** node.exp
        return self.letter(node)

    def power(self, base: Any, monomial: Any, coefficient: sympy.Rational) -> Any:
        """``base**(coefficient * monomial)`` as an integer power of the letter ``base**(monomial / common)``."""
        common = self.common.get((base, monomial), 1)
        if (base, monomial) not in self.letters:
            root = self.letter((base, monomial))
            if monomial == 1 and not isinstance(base, sympy.Symbol) and base != sympy.E:
                self.equations[root] = root**common - self.encode(base)
        return self.letter((base, monomial)) ** (coefficient * common)

    def is_zero(self, polynomial: Any) -> bool:
        """True if a polynomial in the letters is zero modulo the equations of the roots."""
        # The youngest root first: its equation may hold older ones.
        for root in reversed(list(self.equations)):
            equation = sympy.numer(sympy.together(self.equations[root]))
            polynomial = sympy.expand(polynomial)  # what cancels holds no root, and prem fails at the zero polynomial
            polynomial = sympy.prem(polynomial, equation, root) if polynomial.has(root) else polynomial
        return sympy.expand(polynomial) == 0


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
