"""Spread: letters that are the same in every draw, and draws that scatter far less than the file states."""

from __future__ import annotations

from collections.abc import Iterator

from theorax.decide.draw_guards import Spreads, are_equal, noise_of, same_draws
from theorax.decide.laws import LawPlan
from theorax.decide.limits import LimitPlan
from theorax.decide.looked import Looked, together
from theorax.decide.means import MeanPlan, QuantilePlan
from theorax.decide.rates import RatePlan
from theorax.decide.verdict import Assumption, Standing
from theorax.language import Claim, Rate
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.guards.guard import DecidedClaim
from theorax.verifiers.kinds.law_lowering import observed_features
from theorax.verifiers.kinds.lowering import Judged, columns

__all__ = ["constant_letters", "drawn", "spread_of_draws"]


def constant_letters(claim: DecidedClaim) -> Looked:
    """A letter that no draw changes is no measurement; where every letter of the claim is one, no test could fail.

    One draw at each size shows nothing by itself: there the traced program tells whether its key reaches the letter.
    """
    names = sorted(letter.name for letter in claim.planned.claim.observed)
    fixed: dict[str, None] = {}
    for observed in drawn(claim):
        constant = [name for name in names if _is_constant(name, observed)]
        if names and constant == names:
            return Looked((same_draws(f"{' and '.join(names)} ({observed.line.name})"),))
        fixed |= dict.fromkeys(constant)
    if not fixed:
        return Looked()
    return Looked(ledger=(Assumption("letters", f"{', '.join(fixed)}: the same in every draw", Standing.HELD_FIXED),))


def _is_constant(name: str, observed: Observed) -> bool:
    if all(len(table[name]) == 1 for table in observed.tables):
        return observed.keys is not None and name in observed.keys().constant
    return all(are_equal(table[name]) for table in observed.tables)


def spread_of_draws(claim: DecidedClaim) -> Looked:
    """The spread of the draws of every case beside the one that was planned with."""
    stated = claim.planned.claim.spread != Claim.spread
    found: list[tuple[Judged, Spreads]] = []
    for case in claim.judged:
        spreads = _spreads(claim, case, stated) if case.statistical and case.prepared.cell.line.random else None
        if spreads is not None and spreads.ratios:
            found.append((case, spreads))
    if not found:
        return Looked()
    narrow = [spreads.look(_where(case)) for case, spreads in found if spreads.is_narrow]
    # One line for all cases: the ledger names the narrowest and the widest.
    whole = Spreads(
        tuple(r for _, part in found for r in part.ratios), (1.0,) * sum(len(p.ratios) for _, p in found), stated
    )
    return Looked(together(narrow).findings[:1], Spreads(whole.observed, whole.planned, stated).look().ledger)


def drawn(claim: DecidedClaim) -> Iterator[Observed]:
    """The observations of the random lines that the claim was decided on by a test, each once."""
    seen = set()
    for case in claim.judged:
        line = case.prepared.cell.line
        place = (line.experiment, line.name, tuple(sorted(line.label.items())))
        if case.statistical and line.random and line.experiment and place not in seen:
            seen.add(place)
            observed = claim.draws.on(line)
            if observed.tables:
                yield observed


def _where(case: Judged) -> str:
    return f" for {case.prepared.cell.line.name}"


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
