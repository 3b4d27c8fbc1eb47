"""Instances of an exact claim: the share of their law that they leave open, and the inputs that all of them hold fixed."""

from __future__ import annotations

from collections.abc import Iterator

from theorax.decide.findings import Finding, Found
from theorax.decide.spending import level_of
from theorax.decide.status import Levels, Reason
from theorax.decide.verdict import Assumption, Standing
from theorax.verifiers.guards.guard import DecidedClaim, Looked
from theorax.verifiers.kinds.lowering import CellResult

__all__ = ["instances_left_open"]


def instances_left_open(claim: DecidedClaim) -> Looked:
    """Withhold the support of an exact claim by instances of which too few were built; name what was held fixed."""
    held = dict.fromkeys(part for case in claim.judged for part in case.held)
    return Looked(
        tuple(_withheld(claim)),
        tuple(Assumption("input", part, Standing.HELD_FIXED) for part in held),
    )


def _withheld(claim: DecidedClaim) -> Iterator[Found]:
    weak = next(filter(_is_weak, claim.judged), None)
    if weak is None:
        return
    # These draws are seen: a design that decides is another attempt, whose level is stricter.
    levels = Levels.at(level_of(claim.settings.level, claim.planned.attempt + 1))
    told = (
        f"No violation in the instances built, which are too few for {weak.cell.line.name}: "
        f"{weak.plan.short_of_deciding(later=levels)} in a new attempt. Sides that agree in finite fields "
        "need none."
    )
    yield Found(Finding.WITHHELD, told, Reason.UNDERPOWERED)


def _is_weak(case: CellResult) -> bool:
    return case.on_draws and case.statistical and case.decision.p_support > case.levels.support
