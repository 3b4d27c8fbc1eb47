"""Wrong variants of a claim, derived by machine from its SymPy fields and its margin, beside those the file names.

| kind | machine-made wrong variants | machine-made weaker variants |
|---|---|---|
| Limit, Expectation | value x (1 +- {margin, 1/4}), x 2; letter or term dropped; power +- 1 | twice the margin |
| Rate | exponent +- {margin, 1.5 margin, 2 margin, 1/2}, x 2, / 2 | the one-sided claims |
| Law | scaled to 1.1, 1.25, 2 and 4 times the variance and to a quarter | |
| Identity | right side negated, doubled, x (1 + margin); each term dropped or its sign changed | |
| Inequality | the other direction | |
| Optimum | bound raised, value lowered by twice the margin; the point moved to an end of the box | |
| Impossibility | twice the distance | |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from sympy import Add, Expr, Integer, Pow, Rational, exp, sqrt

from theorax.errors import StatementError
from theorax.theorems.language import (
    Absolute,
    Claim,
    Expectation,
    Identity,
    Impossibility,
    Inequality,
    Law,
    Letter,
    Limit,
    Margin,
    Optimum,
    Rate,
    Relative,
)


@dataclass(frozen=True)
class Variant:
    """A claim with some fields replaced, and what should become of it."""

    name: str
    claim: Claim
    expected: Literal["killed", "stays supported"]
    origin: Literal["file", "machine"]


def variants(name: str, claim: Claim) -> tuple[Variant, ...]:
    """Every variant of the claim: the file's by name, then the machine's; equal statements occur once.

    **Raises:** StatementError if the file names a variant with fields that the claim does not have, or one that
    states the claim itself.
    """
    found: list[Variant] = []
    for names, expected in ((claim.mutants, "killed"), (claim.implied, "stays supported")):
        for label, changed in names.items():
            found.append(Variant(label, _changed(name, claim, label, changed), expected, "file"))  # type: ignore[arg-type]
    for label, changed in _wrong(claim):
        found.append(Variant(label, replace(claim, **changed), "killed", "machine"))
    for label, changed in _weaker(claim):
        found.append(Variant(label, replace(claim, **changed), "stays supported", "machine"))
    seen: list[Claim] = [claim]
    kept: list[Variant] = []
    for variant in found:
        bare = replace(variant.claim, mutants=claim.mutants, implied=claim.implied)
        if bare not in seen:
            seen.append(bare)
            kept.append(replace(variant, claim=bare))
    return tuple(kept)


def _changed(name: str, claim: Claim, label: str, changed: Any) -> Claim:
    try:
        mutant = replace(claim, **dict(changed))
    except TypeError as error:
        raise StatementError(
            f"The mutant {label!r} of {name} replaces {', '.join(changed)}, but a {type(claim).__name__} has other "
            f'fields ({error}). Write mutants={{"{label}": dict(field=value)}} with its own fields.'
        ) from None
    if mutant == claim:
        raise StatementError(
            f"The mutant {label!r} of {name} is the claim itself. A variant states something else. Change a field."
        )
    return mutant


def _wrong(claim: Claim) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(claim, Limit):
        yield from (("to " + label, {"to": value}) for label, value in _wrong_values(claim.to, claim.margin))
    elif isinstance(claim, Expectation):
        yield from (
            ("equals " + label, {"equals": value}) for label, value in _wrong_values(claim.equals, claim.margin)
        )
    elif isinstance(claim, Rate):
        yield from _wrong_rates(claim)
    elif isinstance(claim, Law):
        for factor in (Rational(11, 10), Rational(5, 4), Integer(2), Integer(4), Rational(1, 4)):
            yield f"variance x {factor}", {"to": claim.to.scaled(sqrt(factor))}
    elif isinstance(claim, Identity):
        yield "right side negated", {"right": -claim.right}
        yield "right side doubled", {"right": 2 * claim.right}
        if isinstance(claim.margin, Relative):
            yield "right side off by the margin", {"right": (1 + claim.margin.value) * claim.right}
        for side in ("left", "right"):
            terms = Add.make_args(getattr(claim, side))
            if len(terms) > 1:
                for term in terms:
                    yield f"{term} dropped", {side: getattr(claim, side) - term}
                    yield f"sign of {term} changed", {side: getattr(claim, side) - 2 * term}
    elif isinstance(claim, Optimum):
        yield from _wrong_optima(claim)
    elif isinstance(claim, Impossibility):
        yield "at least twice the distance", {"at_least": 2 * claim.at_least}
    elif isinstance(claim, Inequality):
        flipped = {"at_most": claim.at_least, "at_least": claim.at_most}
        yield "the other direction", flipped


def _wrong_optima(claim: Optimum) -> Iterator[tuple[str, dict[str, Any]]]:
    assert claim.margin is not None
    if claim.bound is not None:
        yield "bound raised by twice the margin", {"bound": claim.bound + 2 * claim.margin.value}
        yield "value lowered by twice the margin", {"value": claim.value - 2 * claim.margin.value}
    for letter, (lower, upper) in claim.over.items():
        for end in (lower, upper):
            if claim.at[letter] != end:
                yield f"attained at {letter} = {end}", {"at": {**claim.at, letter: end}}


def _wrong_values(value: Expr, margin: Margin | None) -> Iterator[tuple[str, Expr]]:
    steps = [margin.value, Rational(1, 4)] if isinstance(margin, Relative) else [Rational(1, 4)]
    if isinstance(margin, Absolute):
        for sign in (1, -1):
            yield f"shifted by {sign * margin.value}", value + sign * margin.value
            yield f"shifted by {sign * 2 * margin.value}", value + sign * 2 * margin.value
    if value == 0:
        return
    for step in steps:
        yield f"x {1 + step}", value * (1 + step)
        yield f"x {1 - step}", value * (1 - step)
    yield "x 2", 2 * value
    for letter in sorted((symbol for symbol in value.free_symbols if isinstance(symbol, Letter)), key=str):
        yield f"with {letter} dropped", value.subs(letter, 1)
    for node in sorted(value.atoms(Pow), key=str):
        if node.base.free_symbols & value.free_symbols:
            for change in (1, -1):
                yield f"with {node.base}^({node.exp + change})", value.subs(node, node.base ** (node.exp + change))
    for node in sorted(value.atoms(Add), key=str):
        for term in node.args:
            yield f"with the term {term} dropped", value.subs(node, node - term)


def _wrong_rates(claim: Rate) -> Iterator[tuple[str, dict[str, Any]]]:
    assert claim.margin is not None
    step, exponent = claim.margin.value, claim.exponent
    changes = [sign * size for size in (step, 3 * step / 2, 2 * step, Rational(1, 2)) for sign in (1, -1)]
    for change in changes:
        yield f"exponent {'+' if change > 0 else '-'} {abs(change)}", {"like": _like(claim, exponent + change)}
    if exponent != 0:
        yield "exponent x 2", {"like": _like(claim, 2 * exponent)}
        yield "exponent / 2", {"like": _like(claim, exponent / 2)}


def _like(claim: Rate, exponent: Expr) -> Expr:
    return exp(exponent * claim.as_) if claim.is_exponential else claim.as_**exponent


def _weaker(claim: Claim) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(claim, Limit | Expectation) and claim.margin is not None:
        wider = type(claim.margin)(2 * claim.margin.numerator, claim.margin.denominator)
        yield "twice the margin", {"margin": wider}
    elif isinstance(claim, Rate) and claim.side == "exact":
        yield "at most this order", {"side": "at most"}
        yield "at least this order", {"side": "at least"}
