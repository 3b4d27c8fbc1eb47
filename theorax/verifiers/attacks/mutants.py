"""Wrong variants of a claim, derived by machine from its SymPy fields and its margin, beside those the file names.

| kind | wrong | sharper, and wrong only if the bound is tight | weaker |
|---|---|---|---|
| Limit, Expectation | value x (1 +- {margin, 1/4}), x 2; a letter, constant or term dropped; power, index +- 1 | | margin x 2 |
| Rate | exponent +- {margin, 1.5 margin, 2 margin, 1/2}, x 2, / 2 (one way, if one-sided) | | one-sided; the other way |
| Law | 1.1, 1.25, 2, 4 and 1/4 times the variance; shifted, skewed | | |
| Identity | right side negated, doubled, x (1 + margin); a term dropped or its sign changed; index + 1 | | |
| Inequality | the other direction | the bound halved (doubled, if from below), shifted by twice its slack | twice the content |
| Probability | the opposite event, where more than half is claimed | delta / 2, delta / 10, with delta = 1 - p | delta x 2 |
| Optimum | bound raised, value lowered by twice the margin; the point moved to an end of the box | | twice the margin |
| Impossibility | the planted members in the place of the search | twice the distance | half the distance |

Everywhere max and min change places. Whether a sharper bound is wrong nobody knows: it shows how tight the bound is and
counts as no miss. A weaker variant follows from its claim, by the same data: where it is not supported, the checker or
the file is in error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from sympy import Add, Basic, Expr, I, Integer, Max, Min, Mul, Not, Pow, Rational, Symbol, exp, log, sqrt

from theorax.errors import StatementError
from theorax.language import (
    Absolute,
    Characteristic,
    Claim,
    Expectation,
    Identity,
    Image,
    Impossibility,
    Index,
    Inequality,
    Law,
    Letter,
    Limit,
    Margin,
    Measured,
    Optimum,
    Probability,
    Rate,
    Relative,
)

KILLED, STAYS, TIGHT = "killed", "stays supported", "killed if tight"
Expected = Literal["killed", "stays supported", "killed if tight"]
Change = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Variant:
    """A claim with some fields replaced, and what should become of it."""

    name: str
    claim: Claim
    expected: Expected
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
    machine: tuple[tuple[Expected, Iterator[Change]], ...] = (
        ("killed", _wrong(claim)),
        ("killed if tight", _sharper(claim)),
        ("stays supported", _weaker(claim)),
    )
    for expected, changes in machine:
        for label, changed in changes:
            # What the language refuses to state (a probability above one, two equal sides) is no variant.
            with suppress(StatementError):
                found.append(Variant(label, replace(claim, **changed), expected, "machine"))
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


def _wrong(claim: Claim) -> Iterator[Change]:
    if isinstance(claim, Limit):
        yield from (("to " + label, {"to": value}) for label, value in _wrong_values(claim.to, claim.margin))
        yield from _dropped_factors(claim.of, claim.to, "to", claim.as_)
    elif isinstance(claim, Expectation):
        yield from (
            ("equals " + label, {"equals": value}) for label, value in _wrong_values(claim.equals, claim.margin)
        )
        yield from _dropped_factors(claim.of, claim.equals, "equals", None)
    elif isinstance(claim, Rate):
        yield from _wrong_rates(claim)
    elif isinstance(claim, Law):
        for factor in (Rational(11, 10), Rational(5, 4), Integer(2), Integer(4), Rational(1, 4)):
            yield f"variance x {factor}", {"to": claim.to.scaled(sqrt(factor))}
        yield from ((label, {"to": law}) for label, law in _other_laws(claim))
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
        for letter in sorted((s for s in claim.right.free_symbols if isinstance(s, Index)), key=str):
            yield f"{letter} + 1 for {letter} on the right", {"right": claim.right.subs(letter, letter + 1)}
    elif isinstance(claim, Optimum):
        yield from _wrong_optima(claim)
    elif isinstance(claim, Inequality):
        flipped = {"at_most": claim.at_least, "at_least": claim.at_most}
        yield "the other direction", flipped
    elif isinstance(claim, Probability):
        if claim.at_least.is_number and claim.at_least > Rational(1, 2):
            yield "the opposite event", {"event": Not(claim.event)}
    elif isinstance(claim, Impossibility) and claim.planted is not None:
        yield "the planted members searched for", {"distance": claim.planted}
    yield from _swapped_extremes(claim)


def _sharper(claim: Claim) -> Iterator[Change]:
    if isinstance(claim, Inequality):
        side = "at_most" if claim.at_most is not None else "at_least"
        bound = claim.prediction
        if bound != 0:
            sharper = bound / 2 if side == "at_most" else 2 * bound
            yield f"bound {'halved' if side == 'at_most' else 'doubled'}", {side: sharper}
        if claim.margin is not None:
            shift = -2 * claim.margin.value if side == "at_most" else 2 * claim.margin.value
            yield "bound sharper by twice its slack", {side: bound + shift}
    elif isinstance(claim, Probability):
        for part in (2, 10):
            yield f"delta / {part}", {"at_least": 1 - (1 - claim.at_least) / part}
    elif isinstance(claim, Impossibility):
        yield "twice the distance", {"at_least": 2 * claim.at_least}


def _other_laws(claim: Law) -> Iterator[tuple[str, Image | Characteristic]]:
    """The claimed law moved by a quarter of its scale, and bent: X + X^2 / (4 scale) has another third moment."""
    law, step = claim.to, claim.scale / 4
    if isinstance(law, Image):
        yield "shifted", Image(law.of + step, law.variable, law.density, law.over)
        yield "skewed", Image(law.of + law.of**2 / (4 * claim.scale), law.variable, law.density, law.over)
    elif isinstance(law, Characteristic):
        yield "shifted", Characteristic(law.of * exp(I * law.t * step), law.t)


def _dropped_factors(of: Expr, value: Expr, field: str, as_: Symbol | None) -> Iterator[Change]:
    """Factors beside what is measured, dropped: what does not grow moves the value instead, where it is the same.

    Where the value is zero, x tends to zero whenever n x does: without its factor the statement follows.
    """
    if value == 0:
        return
    for factor in Mul.make_args(of):
        letters = factor.free_symbols
        if any(isinstance(s, Measured) for s in letters) or factor in (1, -1):
            continue
        if as_ is not None and as_ in letters:
            yield f"the factor {factor} dropped", {"of": of / factor}
        else:
            yield f"the factor {factor} dropped", {field: value * factor}


def _swapped_extremes(claim: Claim) -> Iterator[Change]:
    for name in (*claim.measured_fields, *claim.stated_fields):
        part = getattr(claim, name)
        if isinstance(part, Basic) and part.has(Max, Min):
            swapped = part.replace(lambda node: isinstance(node, Max | Min), _other_extreme)
            if swapped != part:
                yield f"max and min swapped in {name}", {name: swapped}


def _other_extreme(node: Expr) -> Expr:
    return Min(*node.args) if isinstance(node, Max) else Max(*node.args)


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
        if isinstance(letter, Index):
            yield f"with {letter} + 1 for {letter}", value.subs(letter, letter + 1)
    for factor in Mul.make_args(value):
        if factor.is_number and not factor.is_Rational:
            yield f"with {factor} dropped", value / factor
    for node in sorted(value.atoms(log), key=str):
        yield f"with {node} dropped", value.subs(node, 1)
    for node in sorted(value.atoms(Pow), key=str):
        if node.base.free_symbols & value.free_symbols:
            for change in (1, -1):
                yield f"with {node.base}^({node.exp + change})", value.subs(node, node.base ** (node.exp + change))
    for node in sorted(value.atoms(Add), key=str):
        for term in node.args:
            yield f"with the term {term} dropped", value.subs(node, node - term)


def _wrong_rates(claim: Rate) -> Iterator[Change]:
    assert claim.margin is not None
    step, exponent = claim.margin.value, claim.exponent
    changes = [sign * size for size in (step, 3 * step / 2, 2 * step, Rational(1, 2)) for sign in (1, -1)]
    for change in changes:
        if not _follows(claim, change):
            yield f"exponent {'+' if change > 0 else '-'} {abs(change)}", {"like": _like(claim, exponent + change)}
    if exponent != 0 and not _follows(claim, exponent):
        yield "exponent x 2", {"like": _like(claim, 2 * exponent)}
    if exponent != 0 and not _follows(claim, -exponent):
        yield "exponent / 2", {"like": _like(claim, exponent / 2)}


def _follows(claim: Rate, change: Expr) -> bool:
    """Whether the order changed by this follows from the claim: a larger upper bound, a smaller lower one."""
    return bool(change > 0) if claim.side == "at most" else bool(change < 0) if claim.side == "at least" else False


def _like(claim: Rate, exponent: Expr) -> Expr:
    return exp(exponent * claim.as_) if claim.is_exponential else claim.as_**exponent


def _weaker(claim: Claim) -> Iterator[Change]:
    if isinstance(claim, Limit | Expectation | Optimum) and claim.margin is not None:
        wider = type(claim.margin)(2 * claim.margin.numerator, claim.margin.denominator)
        yield "twice the margin", {"margin": wider}
    elif isinstance(claim, Rate) and claim.side == "exact":
        yield "at most this order", {"side": "at most"}
        yield "at least this order", {"side": "at least"}
    elif isinstance(claim, Rate) and claim.margin is not None:
        change = 2 * claim.margin.value * (1 if claim.side == "at most" else -1)
        label = f"exponent {'+' if change > 0 else '-'} {abs(change)}"
        yield label, {"like": _like(claim, claim.exponent + change)}
    elif isinstance(claim, Inequality) and not (claim.over or claim.entrywise) and 2 * claim.content < 1:
        yield "twice the content", {"content": 2 * claim.content}
    elif isinstance(claim, Probability):
        if claim.at_least == 1:
            yield "twice the content", {"content": 2 * claim.content}
        else:
            yield "delta x 2", {"at_least": 1 - 2 * (1 - claim.at_least)}
    elif isinstance(claim, Impossibility):
        yield "half the distance", {"at_least": claim.at_least / 2}
