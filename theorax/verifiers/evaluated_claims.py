"""Claims at given values of their letters: conditions and predicted sides, exact, without any draw."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace

from sympy import Basic, Expr, Product, Sum, Symbol, false, sympify

from theorax.errors import UsageError, option
from theorax.language import Claim, Letter, Measured, Theorem
from theorax.language.letters import disobeyed
from theorax.language.limit_laws import LawOfNumbers
from theorax.language.notation import inline
from theorax.names import did_you_mean
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.loading import load
from theorax.verifiers.outcome import EvaluatedClaim

DIGITS = 15
MOST_TERMS = 10_000  # of a sum that is added up exactly
_AT, _SIZES = option("at"), option("sizes")

Values = Mapping[Letter, Expr]


def evaluated_file(
    id: str,
    roots: Sequence[str],
    at: Sequence[tuple[str, str]],
    sizes: Sequence[tuple[str, tuple[int, ...]]],
) -> tuple[EvaluatedClaim, ...]:
    """Every claim of the theorem of this id under these roots, as `evaluated` finds it."""
    return evaluated(load(id, Catalogue.of(roots)), at, sizes)


def evaluated(
    theorem: Theorem, at: Sequence[tuple[str, str]], sizes: Sequence[tuple[str, tuple[int, ...]]]
) -> tuple[EvaluatedClaim, ...]:
    """Every claim at these values, and at each of the sizes that it depends on.

    **Raises:** UsageError for a letter that no claim has, for a value that its letter cannot take, and if no claim
    speaks of these values.
    """
    letters = _letters(theorem)
    given: dict[Letter, tuple[Expr, ...]] = {}
    for flag, name, values in (*((_AT, name, (value,)) for name, value in at), *((_SIZES, *part) for part in sizes)):
        letter = _letter(flag, name, letters)
        given[letter] = tuple(_admitted(flag, letter, sympify(value, rational=True)) for value in values)
    found = tuple(row for name, claim in theorem.claims.items() for row in _rows(theorem, name, claim, given))
    if all(row.broken for row in found):
        raise UsageError(f"No claim speaks of these values: {found[0].claim} needs {found[0].condition}. {_other(at)}")
    return found


def _letters(theorem: Theorem) -> dict[str, Letter]:
    """Letters that a value can be given to, by name."""
    found: set[Letter] = {
        letter
        for claim in theorem.claims.values()
        for letter in claim.letters
        if isinstance(letter, Letter) and not isinstance(letter, Measured)
    }
    for experiment in theorem.experiments.values():
        for expression in experiment.derived.values():
            found |= {letter for letter in sympify(expression).free_symbols if isinstance(letter, Letter)}
    return {letter.name: letter for letter in sorted(found, key=str)}


def _letter(flag: str, name: str, letters: Mapping[str, Letter]) -> Letter:
    if name not in letters:
        raise UsageError(
            f"`{flag} {name}=...`: no claim of this theorem holds {name}{did_you_mean(name, letters)} "
            + (f"Its letters are {', '.join(letters)}." if letters else "Its claims hold no letter that is free.")
        )
    return letters[name]


def _admitted(flag: str, letter: Letter, value: Expr) -> Expr:
    if (word := disobeyed(letter, value)) is not None:
        raise UsageError(
            f"`{flag} {letter}={value}` is not admissible: {letter} ({letter.meaning}) is {word}, and {value} is not. "
            f"Give a value that is {word}."
        )
    return value


def _other(at: Sequence[tuple[str, str]]) -> str:
    return f"Write other values of {', '.join(name for name, _ in at)}." if at else "Give values with --at."


def _rows(
    theorem: Theorem, name: str, claim: Claim, given: Mapping[Letter, tuple[Expr, ...]]
) -> Iterator[EvaluatedClaim]:
    experiment = theorem.experiment_of(claim)
    derived = theorem.experiments[experiment].derived if experiment is not None else {}
    needed = _predicted_letters(claim) | claim.where.free_symbols
    wanted = needed.union(*(sympify(derived[size]).free_symbols for size in derived if size in needed))
    mine = [letter for letter in given if letter in wanted]
    for chosen in itertools.product(*(given[letter] for letter in mine)):
        values: dict[Symbol, Expr] = dict(zip(mine, chosen, strict=True))
        values |= {size: sympify(formula).subs(values) for size, formula in derived.items() if size not in values}
        yield _row(name, claim, values, {letter.name: str(values[letter]) for letter in mine})


def _predicted_letters(claim: Claim) -> frozenset[Symbol]:
    predicted = getattr(claim, claim.predicted)
    return predicted.letters if isinstance(predicted, LawOfNumbers) else frozenset(_side(claim).free_symbols)


def _side(claim: Claim) -> Basic:
    """The expression that theory predicts; of an order its exponent, of an event the side that no draw measures."""
    if claim.predicts_an_exponent:
        exponent: Basic = claim.exponent  # type: ignore[attr-defined]
        return exponent
    return claim.stated_side


def _row(name: str, claim: Claim, values: Mapping[Symbol, Expr], at: Mapping[str, str]) -> EvaluatedClaim:
    predicted = getattr(claim, claim.predicted)
    decimal = error = None
    if isinstance(predicted, LawOfNumbers):
        law = _at_values(predicted, values)
        side, exact, left = str(predicted), str(law), law.letters
    else:
        shown = _side(claim)
        value = _summed(shown.subs(values))
        side, exact, left = inline(shown), inline(value), value.free_symbols
        if isinstance(value, Expr) and value.is_number:
            decimal, error = _decimal(name, value)
    return EvaluatedClaim(
        claim=name,
        kind=claim.kind,
        statement=claim.statement,
        condition=claim.condition,
        at=at,
        side=side,
        exact=exact,
        decimal=decimal,
        error=error,
        broken=claim.where.subs(values) == false,
        open=tuple(sorted(str(letter) for letter in left)),
    )


def _at_values(law: LawOfNumbers, values: Mapping[Symbol, Expr]) -> LawOfNumbers:
    """The law with these values in the place of its letters."""
    parts = {part.name: getattr(law, part.name) for part in fields(law)}  # type: ignore[arg-type]
    free = {letter: value for letter, value in values.items() if letter in law.letters}
    return replace(law, **{name: part.subs(free) for name, part in parts.items() if isinstance(part, Basic)})  # type: ignore[type-var]


def _summed(value: Basic) -> Basic:
    """The value with its finite sums and products added up, where their ends are numbers."""
    finite = [
        part
        for part in value.atoms(Sum, Product)
        if all(
            limit[1].is_Integer and limit[2].is_Integer and limit[2] - limit[1] < MOST_TERMS for limit in part.limits
        )
    ]
    return value.xreplace({part: part.doit() for part in finite})


def _decimal(name: str, value: Expr) -> tuple[float, float]:
    """The decimal of fifteen digits, with a bound of its rounding; the bound is zero where the decimal is the value.

    **Raises:** UsageError for what is no finite real number.
    """
    number = value.evalf(2 * DIGITS)
    if not (number.is_real and number.is_finite):
        raise UsageError(f"The predicted side of {name} is {number} there, no finite real number. Write other values.")
    text = f"{float(number):.{DIGITS}g}"
    if sympify(text, rational=True) == value:
        return float(text), 0.0
    # Half a unit of the last digit, and as much for the binary number that stands for the decimal.
    return float(text), 10.0 ** (math.floor(math.log10(abs(float(number)))) - DIGITS + 1)
