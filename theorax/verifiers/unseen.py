"""Limits of every check: the lines of a ledger for what it cannot see, where the facts of a claim make them apply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from theorax.decide.promise import EVERYWHERE, UNSEEN
from theorax.decide.verdict import Assumption, Standing
from theorax.language import Claim, Theorem
from theorax.names import many
from theorax.verifiers.kinds import CellCase
from theorax.verifiers.outcome import StepOutcome

__all__ = ["Unseen", "unseen"]


class Unseen(StrEnum):
    """Things that a check cannot see, whatever it draws and computes."""

    SELECTION = "selection or clipping inside observe or build"
    RARE = "a value of 10^7 with probability 10^-7, and any declaration of moments about it"
    REGIME = "a change of regime beyond the largest size, plateaus below the bias resolution"
    CLASS = "a class of corrections chosen after seeing data of another log"
    PAPER = "whether the SymPy claim is the theorem of the paper, and whether the model is the paper's model"
    HISTORY = "edits of statement or source made to try again, a deleted log"
    REWRITTEN = "what SymPy had rewritten before the engine saw it (t/t, sqrt(t^2) of a positive letter)"
    SEARCH = "whether a search searched well beyond its planted members"
    GENERATOR = "JAX's generator as a source of independent draws"


def unseen(
    theorem: Theorem, name: str, claim: Claim, cases: Sequence[CellCase], steps: Sequence[StepOutcome]
) -> tuple[Assumption, ...]:
    """The lines for this claim, what is most of its own first, each with the fact of it that makes the line apply."""
    lines = [
        Assumption(UNSEEN, f"{part.value}{f' ({fact})' if fact else ''}", Standing.NOT_LOOKED_AT)
        for part, fact in _applying(theorem, name, claim, cases, steps)
    ]
    return (*lines, Assumption(EVERYWHERE, Unseen.PAPER.value, Standing.NOT_LOOKED_AT))


def _applying(
    theorem: Theorem, name: str, claim: Claim, cases: Sequence[CellCase], steps: Sequence[StepOutcome]
) -> Iterator[tuple[Unseen, str]]:
    lines = [case.cell.line for case in cases] if not claim.range else []
    if lines and claim.tending is not None:
        yield Unseen.REGIME, f"{claim.tending} = {max(max(line.sizes) for line in lines)}"
    if lines and (claim.averaged is not None or claim.tending is not None):
        yield Unseen.RARE, f"{many(min(line.draws for line in lines), 'draw')} at a size"
    if lines and claim.tending is not None:
        yield Unseen.CLASS, ""
    if lines and claim.searched:
        yield Unseen.SEARCH, ""
    if claim.range or any(step.proof == name for step in steps):
        yield Unseen.REWRITTEN, ""
    if lines:
        yield Unseen.SELECTION, ""
    if any(line.random for line in lines):
        yield Unseen.HISTORY, ""
        yield Unseen.GENERATOR, theorem.experiments[lines[0].experiment].dtype
