"""What a build is told of every claim: that it held, failed, is undecided, or could not be judged, and why.

=====================================  ==================  ===========
a claim that is                        and is an erratum   is
=====================================  ==================  ===========
PROVED, CERTIFIED or SUPPORTED         no                  held
REFUTED                                no                  failed
REFUTED                                yes                 held
PROVED, CERTIFIED or SUPPORTED         yes                 undecided
INCONCLUSIVE, VACUOUS or BLOCKED       whatever            undecided
ERROR                                  whatever            broken
=====================================  ==================  ===========

An erratum states what the source prints, and another claim what holds. A theorem that does not hold although each of its
claims did, or that has no claims because its check did not come so far, is a finding of its own, and so is one that an
interrupted run did not reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from theorax.reports.summary import GREEN, ORDER
from theorax.reports.theorem_text import MEANING, REASONS, claimed, wording
from theorax.text.blocks import Block, Lines, Paragraph
from theorax.text.plain import render
from theorax.text.safe import one_line
from theorax.text.signs import signed

Part = Mapping[str, Any]
WIDTH = 100


class Outcome(StrEnum):
    """What a build makes of a finding."""

    HELD = "held"
    FAILED = "failed"
    UNDECIDED = "undecided"
    BROKEN = "broken"


@dataclass(frozen=True)
class Finding:
    """One claim of a theorem, or the theorem itself where ``claim`` is None."""

    theorem: Part
    claim: Part | None
    outcome: Outcome
    status: str
    sentence: str  # on one line: what was found, and for what is undecided the reason

    @property
    def name(self) -> str:
        """The claim's id, or a word for the theorem itself."""
        return self.claim["id"] if self.claim is not None else "theorem"

    @property
    def title(self) -> str:
        """The verdict and whose it is."""
        of = f"{self.theorem['id']}.{self.claim['id']}" if self.claim is not None else self.theorem["id"]
        return f"{signed(self.status)} {of}"

    @property
    def text(self) -> str:
        """All numbers in plain text, and the command that finds them again."""
        blocks: list[Block] = [] if self.claim is None else list(claimed(self.claim, wording(self.theorem)))
        if self.claim is None:
            blocks.append(Paragraph(self.sentence, indent=0))
        if self.theorem["log"]:
            blocks.append(Paragraph(f"The full traceback is in {self.theorem['log']}."))
        place = self.theorem["file"]
        if place and self.claim is not None and self.claim["line"] is not None:
            place = f"{place}, line {self.claim['line']}"
        told = (f"Stated in {place}",) if place else ()
        replay = (f"Replay: {self.theorem['replay']}",) if self.theorem["replay"] else ()
        return render([*blocks, Lines((*told, *replay), indent=2)], WIDTH)


def findings(document: Part) -> tuple[Finding, ...]:
    """Every finding, in the order of the report."""
    found = [finding for part in document["theorems"] for finding in of_theorem(part)]
    for id in document["summary"]["unfinished"]:
        nothing = {"id": id, "paper": "", "title": "", "file": "", "log": None, "replay": "", "seconds": 0.0}
        told = "The run was interrupted before this theorem was checked."
        found.append(Finding(nothing, None, Outcome.UNDECIDED, "INCONCLUSIVE", told))
    return tuple(found)


def worst_first(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that did not hold, the worst first."""
    open_ = [finding for finding in found if finding.outcome is not Outcome.HELD]
    return tuple(sorted(open_, key=lambda finding: _rank(finding.status)))


def _rank(status: str) -> int:
    return -ORDER.index(status)


def of_theorem(part: Part) -> list[Finding]:
    """The findings of one theorem: its claims, and itself where they do not explain its status."""
    own = [judged(part, claim) for claim in part["claims"]]
    explained = any(
        finding.status == part["status"] and not finding.claim["corrected"] for finding in own if finding.claim
    )
    if part["status"] not in GREEN and not explained:
        sentence = one_line(part["reason"] or MEANING[part["status"]])
        own.append(Finding(part, None, _outcome(part["status"], erratum=False), part["status"], sentence))
    return own


def judged(part: Part, claim: Part) -> Finding:
    """What a build makes of one claim."""
    erratum = bool(claim["corrected"])
    outcome = _outcome(claim["status"], erratum=erratum)
    sentence = one_line(claim["sentence"])
    if erratum and outcome is Outcome.HELD:
        sentence = f"As expected, {wording(part)} does not hold; {claim['corrected']} does. {sentence}"
    elif erratum and claim["status"] in GREEN:
        sentence = f"{claim['corrected']} is said to hold in the place of {wording(part)}, yet: {sentence}"
    elif outcome is Outcome.UNDECIDED and claim["reason"]:
        why = REASONS.get(claim["reason"])
        sentence = f"{sentence} Undecided because of {claim['reason']}{f': {why}' if why else ''}."
    return Finding(part, claim, outcome, claim["status"], one_line(sentence))


def _outcome(status: str, *, erratum: bool) -> Outcome:
    if status in GREEN:
        return Outcome.UNDECIDED if erratum else Outcome.HELD
    if status == "REFUTED":
        return Outcome.HELD if erratum else Outcome.FAILED
    return Outcome.BROKEN if status == "ERROR" else Outcome.UNDECIDED


def tally(document: Part) -> str:
    """How many theorems have which verdict, the worst first, with their signs.

    A word and a sign for each, as everywhere.
    """
    counts = document["summary"]["statuses"]
    told = [f"{signed(status).replace(' ', f' {counts[status]} ')}" for status in reversed(ORDER) if counts.get(status)]
    unfinished = len(document["summary"]["unfinished"])
    return ", ".join([*told, *([f"{unfinished} not reached"] if unfinished else [])]) or "nothing was checked"
