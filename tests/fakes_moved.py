"""Checks of the same theorems after a change: some worse, some moved."""

from __future__ import annotations

from dataclasses import replace

import fakes

from theorax.verifiers.outcome import TheoremOutcome
from theorax.verifiers.settings import Settings


def check(id: str, settings: Settings) -> TheoremOutcome:
    """`edge` is refuted, `bulk` has moved by a little, the rest is as in `fakes`."""
    if id == "edge":
        return fakes.outcome(id, "REFUTED", "gap: The limit is not 2.")
    found = fakes.check(id, settings)
    if id == "bulk":
        first, second = fakes.CLAIM.cases
        moved = replace(first, estimate=2.0187, interval=(2.0121, 2.0253))
        return replace(found, claims=(replace(found.claims[0], cases=(moved, second)), *found.claims[1:]))
    return found
