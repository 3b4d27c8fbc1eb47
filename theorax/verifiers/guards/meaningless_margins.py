"""Margins that leave nothing to fail."""

from __future__ import annotations

from theorax.decide.wide_margins import says_nothing
from theorax.verifiers.guards.guard import DecidedClaim, Looked

__all__ = ["wide_margins"]


def wide_margins(claim: DecidedClaim) -> Looked:
    """The finding that no case of the claim could have failed, by what its plan says before any draw."""
    return Looked(says_nothing(case.no_meaning for case in claim.planned.cases))
