"""Sizes of a sweep: where all share their arithmetic, the ledger says which were not looked at."""

from __future__ import annotations

from theorax.decide.looked import Looked
from theorax.decide.size_arithmetic import sizes_of_ledger
from theorax.language import Theorem
from theorax.verifiers.guards.guard import DecidedClaim
from theorax.verifiers.planned_claim import PlannedClaim

__all__ = ["shared_sizes", "swept"]


def shared_sizes(claim: DecidedClaim) -> Looked:
    """The line about the sizes of a claim along a sweep."""
    return Looked(ledger=sizes_of_ledger(*swept(claim.theorem, claim.planned)))


def swept(theorem: Theorem, planned: PlannedClaim) -> tuple[tuple[float, ...], str]:
    """Sizes along which the claim is read, and why they share their arithmetic; no sizes where nothing is extrapolated."""
    if planned.claim.tending is None or not planned.cases:
        return (), ""
    sizes = {float(size) for case in planned.cases for size in case.cell.line.sizes}
    return tuple(sorted(sizes)), theorem.experiments[planned.cases[0].cell.line.experiment].sizes_because
