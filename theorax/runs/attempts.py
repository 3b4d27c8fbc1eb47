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
from dataclasses import fields, replace

from theorax.decide.status import DEFAULT_LEVELS
from theorax.language import Claim
from theorax.runs.store import Place
from theorax.verifiers.kinds.lowering import Prepared

__all__ = ["place"]

# What a reader is told, and what is tried besides, states no other claim.
_BESIDE = ("because", "mutants", "implied", "corrected")


def place(theorem: str, name: str, claim: Claim, cases: Sequence[Prepared], model: str | None) -> Place:
    """Where the attempts at a claim are counted: its statement with margin and class, and its design without levels."""
    stated = [f"{part.name}={getattr(claim, part.name)!r}" for part in fields(claim) if part.name not in _BESIDE]
    designed = [str(model)]
    for case in cases:
        line, weights = case.cell.line, case.weights
        designed.append(
            repr((line.experiment, line.name, sorted(case.cell.label.items()), line.sizes, line.draws, line.paired))
        )
        designed.append(repr((case.claimed, case.margin, case.side)))
        designed.append(repr(replace(weights.plan, levels=DEFAULT_LEVELS)) if weights is not None else "")
    return Place(theorem, name, _digest(type(claim).__name__, *stated), _digest(*designed))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
