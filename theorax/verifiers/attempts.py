r"""Attempts at one claim: fresh seeds on the same statement and design spend one error budget.

The same seeds draw the same numbers, so repeating them spends nothing. Fresh seeds are a new attempt, and whoever may
try again until a test errs will see it err; attempt k therefore gets the level $\alpha_k = 6\alpha/(\pi^2 k^2)$, which
sum to $\alpha$ over all k. An attempt is logged before its data are drawn: a run that was killed has been looked at.

**Errors:** with the levels $\alpha_k$ a true claim is ever refuted with probability at most $\alpha$, however many
attempts are made and whatever decides to make the next one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Protocol

from theorax.decide.status import DEFAULT_LEVELS

if TYPE_CHECKING:  # the store of attempts is opened by commands that check nothing
    from theorax.language import Claim
    from theorax.verifiers.kinds.lowering import Prepared

__all__ = ["AttemptLog", "ClaimVersion", "claim_version"]

# What a reader is told, and what is tried besides, states no other claim.
_BESIDE = ("wrong", "implied", "corrected")


@dataclass(frozen=True)
class ClaimVersion:
    """One claim of a theorem in one version: digests of its statement and of its design."""

    theorem: str
    claim: str
    statement: str
    design: str


class AttemptLog(Protocol):
    """Counts the attempts at each version of a claim, and keeps the p-values of its nights."""

    def begin(self, version: ClaimVersion, seed: int) -> int | None:
        """Log that data of this seed are about to be drawn; the attempt's number, None where nothing can be logged."""
        ...

    def next_number(self, version: ClaimVersion, seed: int) -> int:
        """The number that an attempt with this seed would have; nothing is logged."""
        ...

    def nights(self, version: ClaimVersion, night: int, p: Sequence[float]) -> Sequence[Sequence[float]]:
        """Keep the p-values of this night; those of all nights up to it, in their order."""
        ...


def claim_version(theorem: str, name: str, claim: Claim, cases: Sequence[Prepared], model: str | None) -> ClaimVersion:
    """The version whose attempts are counted: the statement with margin and class, the design without levels."""
    stated = [f"{part.name}={getattr(claim, part.name)!r}" for part in fields(claim) if part.name not in _BESIDE]
    designed = [str(model)]
    for case in cases:
        line = case.cell.line
        designed.append(
            repr((line.experiment, line.name, sorted(case.cell.label.items()), line.sizes, line.draws, line.paired))
        )
        designed.append(repr((case.claimed, case.margin, case.side)))
        designed.append(replace(case.plan, levels=DEFAULT_LEVELS).hash if case.plan is not None else "")
    return ClaimVersion(theorem, name, _digest(type(claim).__name__, *stated), _digest(*designed))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
