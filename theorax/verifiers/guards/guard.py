"""The interface of a guard: the evidence of a claim in, findings and lines of the ledger out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from theorax.decide.guard_findings import Looked
from theorax.language import Theorem
from theorax.verifiers.cases.draws import Draws
from theorax.verifiers.kinds import JUDGES, CellResult, Judge
from theorax.verifiers.planned_claim import PlannedClaim
from theorax.verifiers.settings import Settings

__all__ = ["DecidedClaim", "Guard", "Looked"]


@dataclass(frozen=True)
class DecidedClaim:
    """A decided claim with everything that it was decided from."""

    theorem_id: str
    theorem: Theorem
    planned: PlannedClaim
    judged: Sequence[CellResult]
    draws: Draws
    settings: Settings

    @property
    def judge(self) -> Judge[Any]:
        """The judge of the claim's kind."""
        return JUDGES[type(self.planned.claim)]


Guard: TypeAlias = Callable[[DecidedClaim], Looked]
