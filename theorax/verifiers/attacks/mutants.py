"""Wrong variants of a claim, derived by machine from its SymPy fields and its margin, beside those the file names.

What is wrong, sharper and weaker of a kind of claim is said in its own file (`theorax.language.claims`); max and min change
places in every kind. Whether a sharper bound is wrong nobody knows: it shows how tight the bound is and counts as no miss.
A weaker variant follows from its claim, by the same data: where it is not supported, the checker or the file is in error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from sympy import Basic, Expr, Max, Min

from theorax.errors import StatementError
from theorax.language import Claim
from theorax.language.variants import Change
from theorax.verifiers.outcome import Expected


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
    for names, expected in ((claim.wrong, Expected.KILLED), (claim.implied, Expected.STAYS)):
        for label, changed in names.items():
            found.append(Variant(label, _changed(name, claim, label, claim.replaced(changed)), expected, "file"))
    machine: tuple[tuple[Expected, Iterable[Change]], ...] = (
        (Expected.KILLED, (*claim.wrong_variants(), *_swapped_extremes(claim))),
        (Expected.TIGHT, claim.sharper_variants()),
        (Expected.STAYS, claim.weaker_variants()),
    )
    for expected, changes in machine:
        for label, changed in changes:
            # What the language refuses to state (a probability above one, two equal sides) is no variant.
            with suppress(StatementError):
                found.append(Variant(label, replace(claim, **changed), expected, "machine"))
    seen: list[Claim] = [claim]
    kept: list[Variant] = []
    for variant in found:
        bare = variant.claim
        if not (bare.wrong is claim.wrong and bare.implied is claim.implied):
            bare = replace(bare, wrong=claim.wrong, implied=claim.implied)
        if bare not in seen:
            seen.append(bare)
            kept.append(replace(variant, claim=bare))
    return tuple(kept)


def _changed(name: str, claim: Claim, label: str, changed: Mapping[str, Any]) -> Claim:
    try:
        mutant = replace(claim, **changed)
    except TypeError as error:
        raise StatementError(
            f"The mutant {label!r} of {name} replaces {', '.join(changed)}, but a {type(claim).__name__} has other "
            f'fields ({error}). Write wrong={{"{label}": dict(field=value)}} with its own fields.'
        ) from None
    if mutant == claim:
        raise StatementError(
            f"The mutant {label!r} of {name} is the claim itself. A variant states something else. Change a field."
        )
    return mutant


def _swapped_extremes(claim: Claim) -> Iterator[Change]:
    for name in (*claim.measured_fields, *claim.stated_fields):
        part = getattr(claim, name)
        if isinstance(part, Basic) and part.has(Max, Min):
            swapped = part.replace(lambda node: isinstance(node, Max | Min), _other_extreme)
            if swapped != part:
                yield f"max and min swapped in {name}", {name: swapped}


def _other_extreme(node: Expr) -> Expr:
    return Min(*node.args) if isinstance(node, Max) else Max(*node.args)
