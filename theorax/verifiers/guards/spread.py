"""Spread: letters that are the same in every draw, and draws that scatter far less than the file states."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from theorax.decide.draw_guards import Spreads, are_equal, rounding_of, same_draws
from theorax.decide.guard_findings import Looked
from theorax.decide.status import Status
from theorax.decide.verdict import Assumption, Standing
from theorax.language import Claim, Measured
from theorax.language.notation import inline
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.guards.guard import DecidedClaim
from theorax.verifiers.kinds.lowering import columns

__all__ = ["constant_letters", "constant_quantity", "drawn", "spread_of_draws"]


def constant_letters(claim: DecidedClaim) -> Looked:
    """A letter that stays the same in every draw is no measurement; if all letters of a claim are such, no test can fail.

    One draw at each size shows nothing by itself: there the traced program tells whether its key reaches the letter. A
    whole number that the program draws, one for an event that holds, is what a bound in every draw or a probability
    speaks of; there it is told, and means are of something else. Two such letters that are one number compare nothing.
    """
    names = sorted(letter.name for letter in claim.planned.claim.as_drawn.observed)
    stated = claim.planned.claim
    if stated.searched:
        letters = frozenset().union(*(side.free_symbols for side in claim.judge.compared(stated)))
        searched = sorted(letter.name for letter in letters if isinstance(letter, Measured))
        # A search may well end at one number, a corner of its class; a number that no key reaches was not searched for.
        for observed in drawn(claim, searched_for=True):
            if searched and observed.keys is not None and set(searched) <= set(observed.keys().constant):
                return Looked((same_draws(f"{' and '.join(searched)} ({observed.line.name})"),))
    fixed: dict[str, None] = {}
    for observed in drawn(claim):
        constant = [name for name in names if _is_constant(name, observed)]
        events = stated.speaks_of_the_law_drawn and any(_is_event(name, observed) for name in constant)
        events &= len(names) == 1 or not _are_one(names, observed)
        if names and constant == names and not events:
            made_of = [table[name] for table in observed.tables for name in names]
            return Looked(
                (same_draws(f"{' and '.join(names)} ({observed.line.name})", _only_rounding(claim, made_of)),)
            )
        fixed |= dict.fromkeys(constant)
    if not fixed:
        return Looked()
    return Looked(ledger=(Assumption("letters", f"{', '.join(fixed)}: the same in every draw", Standing.HELD_FIXED),))


def constant_quantity(claim: DecidedClaim) -> Looked:
    """An average of what is one number in every draw, though its letters differ: of a letter less its copy, say."""
    quantity = claim.judge.averaged(claim.planned.claim)
    names = sorted(letter.name for letter in claim.planned.claim.as_drawn.observed)
    for case in claim.judged if quantity is not None and names else ():
        cell = case.cell
        if not (case.statistical and cell.line.random and cell.line.draws > 1):
            continue
        observed = claim.draws.on(cell.line)
        tables = [observed.tables[observed.line.sizes.index(size)] for size in cell.line.sizes]
        letters = [[table[name] for name in names] for table in tables]
        values = columns(quantity, cell, observed).values
        if all(are_equal(part, made_of) for part, made_of in zip(values, letters, strict=True)):
            every = list(itertools.chain.from_iterable(letters))
            return Looked((same_draws(f"{inline(quantity)} ({cell.line.name})", _only_rounding(claim, every)),))
    return Looked()


def _only_rounding(claim: DecidedClaim, columns: Sequence[NDArray[np.generic]]) -> bool:
    """True if what refutes the claim is no farther from it than rounding takes numbers that these columns make."""
    refuting = [case.decision for case in claim.judged if case.decision.status is Status.REFUTED]
    return bool(refuting) and all(
        abs(decision.estimate - decision.claimed) <= rounding_of((*columns, np.array([decision.claimed])))
        for decision in refuting
    )


def _is_event(name: str, observed: Observed) -> bool:
    """True if the letter is a whole number that the key reaches."""
    whole = all((table[name] == np.round(table[name])).all() for table in observed.tables)
    return whole and observed.keys is not None and name not in observed.keys().constant


def _are_one(names: Sequence[str], observed: Observed) -> bool:
    """True if these letters are one number in every draw: events of which none came, say."""
    first, *others = names
    return all(np.array_equal(table[first], table[other]) for table in observed.tables for other in others)


def _is_constant(name: str, observed: Observed) -> bool:
    if all(len(table[name]) == 1 for table in observed.tables):
        return observed.keys is not None and name in observed.keys().constant
    return all(are_equal(table[name]) for table in observed.tables)


def spread_of_draws(claim: DecidedClaim) -> Looked:
    """The spread of the draws beside the one that was planned with: stated once for all cases, so over all of them."""
    stated = claim.planned.claim.spread != Claim.spread
    cases = [case for case in claim.judged if case.statistical and case.cell.line.random]
    found = [claim.judge.scatter(claim.planned.claim, case, claim.draws.on(case.cell.line)) for case in cases]
    observed, planned = (tuple(itertools.chain.from_iterable(part[side] for part in found)) for side in (0, 1))
    return Spreads(observed, planned, stated).look()


def drawn(claim: DecidedClaim, searched_for: bool = False) -> Iterator[Observed]:
    """The observations of the random lines that the claim was decided on by a test, or by a search, each once."""
    seen = set()
    for case in claim.judged:
        line = case.cell.line
        place = (line.experiment, line.name, tuple(sorted(line.label.items())))
        if (case.statistical or searched_for) and line.random and line.experiment and place not in seen:
            seen.add(place)
            observed = claim.draws.on(line)
            if observed.tables:
                yield observed
