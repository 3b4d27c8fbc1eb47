"""Branches of the measured program that no instance takes: the claim was never looked at on their other side."""

from __future__ import annotations

from functools import partial

from theorax.decide.guard_findings import NOTHING_LOOKED_AT, Looked
from theorax.decide.promise import BRANCH
from theorax.decide.verdict import Assumption, Standing
from theorax.verifiers.cases.returned_floats import Branch, Taken, branches_taken
from theorax.verifiers.guards.guard import DecidedClaim

__all__ = ["branches_untaken"]


def branches_untaken(claim: DecidedClaim) -> Looked:
    """Name the comparisons whose outcome was the same in all instances of a green claim about them."""
    if not claim.judge.kept_by_floats(claim.planned.claim) or not all(
        case.decision.status.holds for case in claim.judged
    ):
        return NOTHING_LOOKED_AT
    taken: dict[Branch, Taken] = {}
    for line in {case.cell.line.place: case.cell.line for case in claim.judged}.values():
        observed = claim.draws.on(line)
        if not observed.instances:
            continue
        place = ("branches", observed.line.draws)
        found = observed.about_line.once(place, partial(branches_taken, observed, observed.line.sizes))
        for branch, outcome in found.items():
            before = taken.get(branch, Taken())
            taken[branch] = Taken(before.true or outcome.true, before.false or outcome.false)
    told = [_text(branch, outcome.always) for branch, outcome in taken.items() if outcome.always is not None]
    return Looked((), tuple(Assumption(BRANCH, text, Standing.NOT_LOOKED_AT) for text in dict.fromkeys(told)))


def _text(branch: Branch, always: bool) -> str:
    where = f" ({branch.line})" if branch.line else ""
    return f"branch {branch.text} {'always' if always else 'never'} taken{where}"
