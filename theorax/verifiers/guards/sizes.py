"""Sizes of a sweep: they reach what is measured; where all share their arithmetic, the ledger says which were left out."""

from __future__ import annotations

from theorax.decide.guard_findings import Looked
from theorax.decide.size_arithmetic import sizes_of_ledger, unread_size
from theorax.language import Theorem
from theorax.verifiers.guards.guard import DecidedClaim
from theorax.verifiers.guards.replays import supported_lines
from theorax.verifiers.planned_claim import PlannedClaim

__all__ = ["shared_sizes", "swept", "unread_sizes"]


def unread_sizes(claim: DecidedClaim) -> Looked:
    """Support withheld from a limit whose draws are one computation at all sizes: nothing was drawn along the sweep."""
    if claim.planned.claim.tending is None:
        return Looked()
    names = {letter.name for letter in claim.planned.claim.observed}
    for line in supported_lines(claim):
        observed = claim.draws.on(line)
        if len(line.sizes) > 1 and observed.size_reaches is not None and not observed.size_reaches(names):
            return Looked((unread_size(str(line.swept), line.name, sorted(names)),))
    return Looked()


def shared_sizes(claim: DecidedClaim) -> Looked:
    """The line about the sizes of a claim along a sweep."""
    return Looked(ledger=sizes_of_ledger(*swept(claim.theorem, claim.planned)))


def swept(theorem: Theorem, planned: PlannedClaim) -> tuple[tuple[float, ...], str]:
    """Sizes along which the claim is read, and why they share their arithmetic; no sizes where nothing is extrapolated."""
    if planned.claim.tending is None or not planned.cases:
        return (), ""
    sizes = {float(size) for case in planned.cases for size in case.cell.line.sizes}
    return tuple(sorted(sizes)), theorem.experiments[planned.cases[0].cell.line.experiment].sizes_because
