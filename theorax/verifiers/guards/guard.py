"""The interface of a guard: the evidence of a claim in, findings and lines of the ledger out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from theorax.decide.findings import Found
from theorax.decide.verdict import Assumption
from theorax.language import Theorem
from theorax.verifiers.cases.draws import Draws
from theorax.verifiers.kinds.lowering import Judged
from theorax.verifiers.planned_claim import PlannedClaim
from theorax.verifiers.settings import Settings


@dataclass(frozen=True)
class DecidedClaim:
    """A decided claim with everything that it was decided from."""

    theorem_id: str
    theorem: Theorem
    planned: PlannedClaim
    judged: Sequence[Judged]
    draws: Draws
    settings: Settings


@dataclass(frozen=True)
class Looked:
    """Findings and lines of the ledger; the first line of a kind stands in the place of what was declared of that kind."""

    findings: tuple[Found, ...] = ()
    ledger: tuple[Assumption, ...] = ()

    def over(self, declared: Sequence[Assumption]) -> tuple[Assumption, ...]:
        """The declared ledger with these lines in it."""
        left, lines = list(self.ledger), []
        for line in declared:
            own = next((part for part in left if part.kind == line.kind), line)
            if own is not line:
                left.remove(own)
            lines.append(own)
        return (*lines, *left)


NOTHING_LOOKED_AT = Looked()
Guard: TypeAlias = Callable[[DecidedClaim], Looked]


def together(found: Iterable[Looked]) -> Looked:
    """Findings and lines of several guards as one."""
    parts = list(found)
    return Looked(
        tuple(finding for part in parts for finding in part.findings),
        tuple(line for part in parts for line in part.ledger),
    )
