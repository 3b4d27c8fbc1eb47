"""Kinds that can be stated but not decided yet: INCONCLUSIVE, with that as the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from theorax.theorems.language import Claim
from theorax.verifiers.decision import Decision, Levels, Reason, Side
from theorax.verifiers.kinds.base import Judge, Judged, Prepared
from theorax.verifiers.lines import Cell, Observed


@final
@dataclass(frozen=True)
class PendingJudge(Judge):
    """Never supports, never refutes."""

    def prepare(self, claim: Claim, cell: Cell, levels: Levels, original: Claim) -> Prepared:
        return Prepared(cell, 0.0, 1.0, 1.0, None)

    def judge(self, claim: Claim, prepared: Prepared, observed: Observed) -> Judged:
        decision = Decision.undecided(Reason.NOT_DECIDABLE_YET, prepared.claimed, prepared.margin, Side.EQUAL, Levels())
        return Judged(prepared, decision, (), detail=f"claims of the kind {claim.kind} cannot be decided yet")
