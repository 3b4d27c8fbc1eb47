"""Light tails: where Student's interval supports a claim, the line of its ledger says what was looked at."""

from __future__ import annotations

from theorax.decide.equivalence import combine
from theorax.decide.skewness import with_tails
from theorax.verifiers.guards.guard import DecidedClaim, Looked

__all__ = ["light_tails"]


def light_tails(claim: DecidedClaim) -> Looked:
    """The claim's moments as tested, where every case passed; the decision itself withholds a support that did not."""
    decision = combine([case.decision for case in claim.judged], claim.planned.levels)
    lines = [line for line in claim.planned.claim.assumptions() if line.kind == "moment"]
    return Looked(ledger=tuple(new for line in lines[:1] if (new := with_tails(line, decision)) is not line))
