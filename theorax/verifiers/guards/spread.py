"""Spread: letters that are the same in every draw, and draws that scatter far less than the file states."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from theorax.decide.draw_guards import Spreads, are_equal, noise_of, same_draws
from theorax.decide.laws import LawPlan
from theorax.decide.limits import LimitPlan
from theorax.decide.looked import Looked
from theorax.decide.means import MeanPlan, QuantilePlan
from theorax.decide.rates import RatePlan
from theorax.decide.verdict import Assumption, Standing
from theorax.language import Claim, Impossibility, Inequality, Measured, Probability, Rate
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.guards.guard import DecidedClaim
from theorax.verifiers.kinds.law_lowering import observed_features
from theorax.verifiers.kinds.lowering import Judged, columns

__all__ = ["constant_letters", "drawn", "spread_of_draws"]


def constant_letters(claim: DecidedClaim) -> Looked:
    """A letter that no draw changes is no measurement; where every letter of the claim is one, no test could fail.

    One draw at each size shows nothing by itself: there the traced program tells whether its key reaches the letter. A
    whole number that the program draws, one for an event that holds, is what a bound in every draw or a probability
    speaks of; there it is told, and means are of something else.
    """
    names = sorted(letter.name for letter in claim.planned.claim.observed)
    stand = claim.planned.claim
    if isinstance(stand, Impossibility) and stand.planted is not None:
        searched = sorted(letter.name for letter in stand.distance.free_symbols if isinstance(letter, Measured))
        # A search may well end at one number, a corner of its class; a number that no key reaches was not searched for.
        for observed in drawn(claim, searched_for=True):
            if searched and observed.keys is not None and set(searched) <= set(observed.keys().constant):
                return Looked((same_draws(f"{' and '.join(searched)} ({observed.line.name})"),))
    of_events = isinstance(claim.planned.claim, Inequality | Probability)
    fixed: dict[str, None] = {}
    for observed in drawn(claim):
        constant = [name for name in names if _is_constant(name, observed)]
        events = of_events and any(_is_event(name, observed) for name in constant)
        if names and constant == names and not events:
            return Looked((same_draws(f"{' and '.join(names)} ({observed.line.name})"),))
        fixed |= dict.fromkeys(constant)
    if not fixed:
        return Looked()
    return Looked(ledger=(Assumption("letters", f"{', '.join(fixed)}: the same in every draw", Standing.HELD_FIXED),))


def _is_event(name: str, observed: Observed) -> bool:
    """True if the letter is a whole number that the key reaches."""
    whole = all((table[name] == np.round(table[name])).all() for table in observed.tables)
    return whole and observed.keys is not None and name not in observed.keys().constant


def _is_constant(name: str, observed: Observed) -> bool:
    if all(len(table[name]) == 1 for table in observed.tables):
        return observed.keys is not None and name in observed.keys().constant
    return all(are_equal(table[name]) for table in observed.tables)


def spread_of_draws(claim: DecidedClaim) -> Looked:
    """The spread of the draws beside the one that was planned with: stated once for all cases, so over all of them."""
    stated = claim.planned.claim.spread != Claim.spread
    cases = [case for case in claim.judged if case.statistical and case.prepared.cell.line.random]
    found = [part for part in (_spreads(claim, case, stated) for case in cases) if part is not None]
    observed, planned = (
        tuple(itertools.chain.from_iterable(parts))
        for parts in ([part.observed for part in found], [part.planned for part in found])
    )
    return Spreads(observed, planned, stated).look()


def drawn(claim: DecidedClaim, searched_for: bool = False) -> Iterator[Observed]:
    """The observations of the random lines that the claim was decided on by a test, or by a search, each once."""
    seen = set()
    for case in claim.judged:
        line = case.prepared.cell.line
        place = (line.experiment, line.name, tuple(sorted(line.label.items())))
        if (case.statistical or searched_for) and line.random and line.experiment and place not in seen:
            seen.add(place)
            observed = claim.draws.on(line)
            if observed.tables:
                yield observed


def _spreads(claim: DecidedClaim, case: Judged, stated: bool) -> Spreads | None:
    """Observed and planned standard deviations of one draw of this case, in the units of its plan."""
    plan, stand = case.prepared.plan, claim.planned.claim
    observed = claim.draws.on(case.prepared.cell.line)
    if isinstance(plan, LawPlan):
        cell, frequencies = case.prepared.cell, plan.frequencies
        sizes = range(len(cell.line.sizes))
        tables = [observed_features(stand, cell, observed, at, frequencies) for at in sizes]  # type: ignore[arg-type]
        return Spreads(tuple(map(noise_of, tables)), plan.planned_spreads, stated)
    if isinstance(plan, RatePlan) and isinstance(stand, Rate) and stand.to is not None:
        return None  # a distance of laws: what one draw scatters by has no unit in it
    if isinstance(plan, LimitPlan | RatePlan):
        seen = plan.scatter(columns(stand.of, case.prepared.cell, observed))  # type: ignore[attr-defined]
        return Spreads(seen, plan.planned_spreads, stated)
    if isinstance(plan, MeanPlan | QuantilePlan):
        return Spreads(plan.scatter(columns(stand.of, case.prepared.cell, observed)), (plan.sd,), stated)  # type: ignore[attr-defined]
    return None
