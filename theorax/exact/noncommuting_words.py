r"""Equalities of polynomials in matrices of every size: words in letters that do not commute, with equations between them.

A polynomial that is zero in the free algebra is zero for matrices of every size, and no other polynomial of degree below
$2k$ vanishes for all matrices of order $k$. Given equations, and their transposes, become rules that replace the greatest
word of each; where two rules overlap, what they say together becomes a rule too. A proof is the list of the equations used,
checked by multiplying out integer matrices that need satisfy none of them. Equations that contradict themselves are refused:
those that say that the identity is zero, and those whose traces differ for all real matrices, as of AB - BA = 1.

**Source:** Bergman 1978, theorem 1.2 (overlaps of rules); Amitsur and Levitzki 1950 (identities of matrices).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import TypeAlias

from flint import fmpq, fmpq_mat
from sympy import Add, Expr, Integer, Mul, Pow, Rational, Symbol, cancel, transpose

from theorax.errors import problem
from theorax.exact.second_routes import SecondRoute
from theorax.exact.zero import ZeroFinding, ZeroTest, is_zero

__all__ = ["decide_words"]

Equation: TypeAlias = tuple[Expr, Expr]
Word: TypeAlias = tuple[Expr, ...]
Polynomial: TypeAlias = Mapping[Word, Expr]

_MOST_REWRITINGS = 20_000
"""Rewritings in one step of a proof; what is left then stays undecided."""

_MOST_RULES = 80
"""Rules that given equations may lead to; without the others fewer words are found equal, none wrongly."""

_LARGEST = 10**6
"""Entries of the matrices, and numerators of scalars, at which a proof is multiplied out, up to sign."""


@dataclass(frozen=True)
class _Use:
    """One use of an equation: ``factor * before * (its left side - its right side) * after``."""

    factor: Expr
    before: Word
    equation: int
    after: Word

    def within(self, factor: Expr, before: Word, after: Word) -> _Use:
        return _Use(factor * self.factor, before + self.before, self.equation, self.after + after)


@dataclass(frozen=True)
class _Rule:
    """The greatest word of an equation, what replaces it, and the uses of equations whose sum is their difference."""

    word: Word
    by: Polynomial
    uses: tuple[_Use, ...]

    def used(self, factor: Expr, before: Word, after: Word) -> tuple[_Use, ...]:
        return tuple(use.within(factor, before, after) for use in self.uses)


def decide_words(left: Expr, right: Expr, given: Sequence[Equation]) -> tuple[ZeroFinding, SecondRoute]:
    """Compare two polynomials in matrices of every size; the second value says how the proof was multiplied out.

    **Errors:** none on the side of zero. Without given equations the other side is exact too; with them, what is not found
    equal is left open.

    **Raises:** StatementError for a side that is no polynomial in letters, and for equations that leave a letter zero.
    """
    equations = [*given, *((transpose(a), transpose(b)) for a, b in given)]
    rules = _rules(equations)
    rest, uses = _reduced(_difference(left, right), rules)
    verdicts = {word: is_zero(factor) for word, factor in rest.items()}
    if all(found.proved for found in verdicts.values()):
        told = "equal word by word, for matrices of every size" + (", by the given equations" if uses else "")
        return ZeroFinding(ZeroTest.PROVED, told), _multiplied_out(left, right, equations, uses)
    open_ = next(word for word, found in verdicts.items() if not found.proved)
    told = f"{_shown(open_)} is left, with the factor {rest[open_]}"
    false = not given and any(found.refuted for found in verdicts.values())
    return ZeroFinding(ZeroTest.REFUTED if false else ZeroTest.UNDECIDED, told), SecondRoute(None, "nothing was proved")


def _rules(equations: Sequence[Equation]) -> list[_Rule]:
    """Rules from the equations and from what they say together where their words overlap."""
    rules: list[_Rule] = []
    waiting: list[tuple[Polynomial, tuple[_Use, ...]]] = [
        (_difference(*sides), (_Use(Integer(1), (), place, ()),)) for place, sides in enumerate(equations)
    ]
    while waiting and len(rules) < _MOST_RULES:
        polynomial, uses = waiting.pop(0)
        rest, further = _reduced(polynomial, rules)
        if not rest:
            continue
        rule = _rule(rest, (*uses, *(use.within(Integer(-1), (), ()) for use in further)))
        for other in [*rules, rule]:
            waiting += [*_overlaps(rule, other), *_overlaps(other, rule)]
        rules.append(rule)
    if impossible := next((rule for rule in rules if _holds_for_none(rule, rules)), None):
        by = Add(*(factor * Mul(*word) for word, factor in impossible.by.items()))
        problem(
            "matrix-step-contradiction",
            f"No real matrices satisfy the given equations of a MatrixStep: {_shown(impossible.word)} = {by} follows, and "
            "the traces of these sides differ, whatever the matrices. Leave out the equation that does not hold.",
        )
    return rules


def _rule(polynomial: Polynomial, uses: tuple[_Use, ...]) -> _Rule:
    word = max(polynomial, key=_order)
    factor = polynomial[word]
    if not word or (len(word) == 1 and len(polynomial) == 1):
        problem(
            "matrix-step-contradiction",
            f"The given equations of a MatrixStep say together that {_shown(word)} = 0. Every equality would follow from "
            "them. Leave out the equation that does not hold.",
        )
    if not factor.is_nonzero:
        problem(
            "matrix-step-given",
            f"The given equations of a MatrixStep determine {_shown(word)} only up to the factor {factor}, which may be "
            "zero. Divide the equation by it, so that a word stands alone on one side.",
        )
    by = {other: -own / factor for other, own in polynomial.items() if other != word}
    return _Rule(word, by, tuple(use.within(1 / factor, (), ()) for use in uses))


def _holds_for_none(rule: _Rule, rules: Sequence[_Rule]) -> bool:
    """True if an equation says that a number which is not zero, and traces of squares of its sign, have the sum zero.

    The trace of a product stays where its factors are turned around a circle or all transposed; that of a matrix times its
    transpose is a sum of squares.
    """
    if () not in rule.by:
        return False
    terms = [(rule.word, Integer(1)), *((word, -factor) for word, factor in rule.by.items())]
    traces = _collected((min(_of_one_trace(word, rules), key=_order), factor) for word, factor in terms)
    number = traces.get((), Integer(0))
    squares = all(word == () or _is_square(word, rules) for word in traces)
    positive = number.is_positive and all(factor.is_nonnegative for factor in traces.values())
    negative = number.is_negative and all(factor.is_nonpositive for factor in traces.values())
    return bool(squares and (positive or negative))


def _of_one_trace(word: Word, rules: Sequence[_Rule]) -> list[Word]:
    """Words whose trace is that of this one."""
    turned = [word[place:] + word[:place] for place in range(max(1, len(word)))]
    return turned + [mirrored for own in turned if (mirrored := _transposed(own, rules)) is not None]


def _is_square(word: Word, rules: Sequence[_Rule]) -> bool:
    """True if the word, turned around a circle, is another one followed by its transpose."""
    half = len(word) // 2
    turned = (word[place:] + word[:place] for place in range(len(word)))
    return any(_transposed(own[:half], rules) == own[half:] for own in turned)


def _transposed(word: Word, rules: Sequence[_Rule]) -> Word | None:
    """The one word that the transpose of a word is by the rules; None if it is a sum or a multiple."""
    rest, _ = _reduced({tuple(transpose(letter) for letter in reversed(word)): Integer(1)}, rules)
    return next(iter(rest)) if list(rest.values()) == [1] else None


def _order(word: Word) -> tuple[int, list[tuple[bool, str]]]:
    """Longer words are greater, then transposed letters, then names: rewriting ends, for there are few shorter words."""
    return len(word), [(isinstance(letter, transpose), str(letter)) for letter in word]


def _overlaps(first: _Rule, second: _Rule) -> Iterator[tuple[Polynomial, tuple[_Use, ...]]]:
    """The two ways to rewrite a word that begins with the first rule's word and ends with the second one's, or holds it."""
    one = Integer(1)
    for shared in range(1, min(len(first.word), len(second.word))):
        if first.word[-shared:] == second.word[:shared]:
            before, after = first.word[:-shared], second.word[shared:]
            terms = [*_framed(second.by, one, before, ()), *_framed(first.by, -one, (), after)]
            yield _collected(terms), (*first.used(one, (), after), *second.used(-one, before, ()))
    for place in range(len(first.word) - len(second.word) + 1):
        end = place + len(second.word)
        if first is not second and first.word[place:end] == second.word:
            before, after = first.word[:place], first.word[end:]
            terms = [*_framed(second.by, one, before, after), *_framed(first.by, -one, (), ())]
            yield _collected(terms), (*first.used(one, (), ()), *second.used(-one, before, after))


def _reduced(polynomial: Polynomial, rules: Sequence[_Rule]) -> tuple[Polynomial, list[_Use]]:
    """The polynomial with no word of a rule left in it, and the uses whose sum was taken off."""
    rest, done, uses = dict(polynomial), dict[Word, Expr](), list[_Use]()
    for _ in range(_MOST_REWRITINGS):
        if not rest:
            break
        word = max(rest, key=_order)
        factor = rest.pop(word)
        found = _found(word, rules)
        if found is None:
            done[word] = factor
            continue
        rule, before, after = found
        rest = dict(_collected([*rest.items(), *_framed(rule.by, factor, before, after)]))
        uses += rule.used(factor, before, after)
    return {**rest, **done}, uses


def _found(word: Word, rules: Sequence[_Rule]) -> tuple[_Rule, Word, Word] | None:
    """A rule whose word is in this one, with the letters before and after it there."""
    for rule in rules:
        for place in range(len(word) - len(rule.word) + 1):
            end = place + len(rule.word)
            if word[place:end] == rule.word:
                return rule, word[:place], word[end:]
    return None


def _difference(left: Expr, right: Expr) -> Polynomial:
    return _collected([*_in_words(left).items(), *_framed(_in_words(right), Integer(-1), (), ())])


def _in_words(expression: Expr) -> Polynomial:
    """The expression as factors of words; the empty word stands for the identity matrix."""
    if expression.is_commutative:
        return _collected([((), expression)])
    if isinstance(expression, Symbol) or (isinstance(expression, transpose) and isinstance(expression.args[0], Symbol)):
        return {(expression,): Integer(1)}
    if isinstance(expression, Add):
        return _collected(term for part in expression.args for term in _in_words(part).items())
    whole = isinstance(expression, Pow) and expression.exp.is_Integer and expression.exp > 0
    if not (whole or isinstance(expression, Mul)):
        problem(
            "matrix-step-letters",
            f"A MatrixStep holds {expression}. Its sides are sums, products, whole powers and transposes of "
            "generic_matrices. Write a letter of its own for anything else, and say what it satisfies with given=.",
        )
    factors = [expression.base] * int(expression.exp) if whole else expression.args
    return reduce(_product, map(_in_words, factors))


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    return _collected((a + b, x * y) for (a, x), (b, y) in product(left.items(), right.items()))


def _framed(polynomial: Polynomial, factor: Expr, before: Word, after: Word) -> Iterator[tuple[Word, Expr]]:
    return ((before + word + after, factor * own) for word, own in polynomial.items())


def _collected(terms: Iterable[tuple[Word, Expr]]) -> Polynomial:
    found: dict[Word, Expr] = {}
    for word, factor in terms:
        found[word] = found.get(word, Integer(0)) + factor
    return {word: kept for word, factor in found.items() if (kept := cancel(factor)) != 0}


def _shown(word: Word) -> str:
    return str(Mul(*word)) if word else "the identity matrix"


def _multiplied_out(left: Expr, right: Expr, equations: Sequence[Equation], uses: Sequence[_Use]) -> SecondRoute:
    """Both sides and the equations used, as they are written, at integer matrices and rational scalars."""
    written = [left, right, *(side for equation in equations for side in equation)]
    symbols = sorted({symbol for side in written for symbol in side.free_symbols}, key=str)
    scalars = [symbol for symbol in symbols if symbol.is_commutative]
    longest = max((len(word) for side in written for word in _in_words(side)), default=0)
    order = (longest + max((len(use.before + use.after) for use in uses), default=0)) // 2 + 1
    rng = random.Random(f"{left} = {right}")
    at = {symbol: Rational(rng.randint(1, _LARGEST), rng.randint(1, _LARGEST)) for symbol in scalars}
    entries = lambda: [rng.randint(-_LARGEST, _LARGEST) for _ in range(order * order)]  # noqa: E731
    matrices = {symbol: fmpq_mat(order, order, entries()) for symbol in symbols if not symbol.is_commutative}
    identity = fmpq_mat(order, order, [int(i == j) for i in range(order) for j in range(order)])

    def value(part: Expr) -> fmpq_mat:
        if part.is_commutative:
            number = part.subs(at)
            if not isinstance(number, Rational):
                raise ArithmeticError(str(part))
            return identity * fmpq(int(number.p), int(number.q))
        if isinstance(part, Symbol):
            return matrices[part]
        if isinstance(part, transpose):
            return value(part.args[0]).transpose()
        parts = [value(part.base)] * int(part.exp) if isinstance(part, Pow) else [value(factor) for factor in part.args]
        return reduce(lambda a, b: a + b if isinstance(part, Add) else a * b, parts)

    try:
        rest = value(left) - value(right)
        for use in uses:
            a, b = equations[use.equation]
            rest -= value(use.factor) * value(Mul(*use.before)) * (value(a) - value(b)) * value(Mul(*use.after))
    except ArithmeticError as at_:
        return SecondRoute(None, f"{at_} is no rational number at rational letters")
    told = f"multiplied out at integer matrices of order {order}" + (", equations used and all" if uses else "")
    return SecondRoute(rest == fmpq_mat(order, order), told)
