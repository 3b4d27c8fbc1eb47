"""A claim with the plans of its evidence, before any data."""

from __future__ import annotations

from dataclasses import dataclass

from theorax.decide.status import Levels
from theorax.decide.verdict import LoggedAttempt
from theorax.language import Claim
from theorax.names import many, with_article
from theorax.verifiers.attempts import ClaimVersion
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.lowering import Prepared


@dataclass(frozen=True)
class PlannedClaim:
    """A claim with the prepared cases of its evidence; ``notes`` say of each why its design cannot decide, if so."""

    name: str
    claim: Claim
    cases: tuple[Prepared, ...]
    levels: Levels
    notes: tuple[str, ...]
    version: ClaimVersion
    attempt: int = 1
    asked: tuple[Cell, ...] = ()  # in the place of ``cases``, where --sizes leaves fewer sizes than the claim needs
    sizes_needed: int = 0
    is_settled: bool = False  # a proof says that it settles the claim
    entry: LoggedAttempt | None = None  # of the attempt in the log; None where it has none
    logged: bool = True  # False where an attempt should have been logged and could not be

    @property
    def is_tried(self) -> bool:
        """True if data are drawn to decide it."""
        return bool(self.cases) and not self.refusal

    @property
    def shortage(self) -> str:
        """The sentence that the sizes asked for are too few; empty where they are enough."""
        if not self.sizes_needed:
            return ""
        return f"{with_article(self.claim.kind).capitalize()} needs at least {many(self.sizes_needed, 'size')} here."

    @property
    def refusal(self) -> str:
        """The sentence why the claim is not worth running; empty if it is."""
        pairs = zip(self.cases, self.notes, strict=True)
        return next((note for case, note in pairs if note and not case.runs_if_weak), "")
