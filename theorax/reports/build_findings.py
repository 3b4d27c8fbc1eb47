"""Outcome of every claim for a build: it held, failed, is undecided, or could not be judged, and why.

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

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from theorax.decide.facts import FactKey, by_key, facts
from theorax.decide.status import Status
from theorax.reports.claim_facts import wording
from theorax.reports.document import ClaimReport, Document, TheoremReport, urgency
from theorax.reports.theorem_text import claimed
from theorax.text.blocks import Block, Lines, Paragraph
from theorax.text.plain import render
from theorax.text.safe import one_line
from theorax.text.signs import signed

WIDTH = 100


class BuildOutcome(StrEnum):
    """Outcome of a finding for a build."""

    HELD = "held"
    FAILED = "failed"
    UNDECIDED = "undecided"
    BROKEN = "broken"


@dataclass(frozen=True)
class BuildFinding:
    """One claim of a theorem, or the theorem itself where ``claim`` is None."""

    id: str  # of the theorem
    theorem: TheoremReport | None  # None where an interrupted run did not reach it
    claim: ClaimReport | None
    outcome: BuildOutcome
    status: Status
    sentence: str  # on one line: what was found, and for what is undecided the reason

    @property
    def name(self) -> str:
        """The claim's id, or a word for the theorem itself."""
        return self.claim.id if self.claim is not None else "theorem"

    @property
    def title(self) -> str:
        """The verdict and whose it is."""
        part = self.theorem if self.claim is None else self.claim
        within, alone = (part.within_margin, part.alone) if part is not None else (False, False)
        return f"{signed(self.status, within, alone=alone)} {self.id if self.claim is None else f'{self.id}.{self.claim.id}'}"

    @property
    def file(self) -> str:
        """File that states the theorem; empty if unknown."""
        return self.theorem.file if self.theorem is not None else ""

    @property
    def replay(self) -> str:
        """The command that finds it again; empty if there is none."""
        return self.theorem.replay if self.theorem is not None else ""

    @property
    def seconds(self) -> float:
        """Time that the check of its theorem took."""
        return self.theorem.seconds if self.theorem is not None else 0.0

    @property
    def text(self) -> str:
        """All numbers in plain text, and the command that finds them again."""
        blocks: list[Block] = [Paragraph(self.sentence, indent=0)]
        if self.claim is not None and self.theorem is not None:
            blocks = list(claimed(self.claim, self.theorem))
        if self.theorem is not None and self.theorem.log:
            blocks.append(Paragraph(f"The full traceback is in {self.theorem.log}."))
        place = self.file
        if place and self.claim is not None and self.claim.line is not None:
            place = f"{place}, line {self.claim.line}"
        told = (f"Stated in {place}",) if place else ()
        replay = (f"Replay: {self.replay}",) if self.replay else ()
        return render([*blocks, Lines((*told, *replay), indent=2)], WIDTH)


def findings_of_build(document: Document) -> tuple[BuildFinding, ...]:
    """Every finding, in the order of the report."""
    found = [finding for part in document.theorems for finding in of_theorem(part)]
    told = "The run was interrupted before this theorem was checked."
    found += [
        BuildFinding(id, None, None, BuildOutcome.UNDECIDED, Status.INCONCLUSIVE, told)
        for id in document.summary.unfinished
    ]
    return tuple(found)


def worst_first(found: Iterable[BuildFinding]) -> tuple[BuildFinding, ...]:
    """The findings that did not hold, the worst first."""
    open_ = [finding for finding in found if finding.outcome is not BuildOutcome.HELD]
    return tuple(sorted(open_, key=lambda finding: -urgency(finding.status)))


def of_theorem(part: TheoremReport) -> list[BuildFinding]:
    """The findings of one theorem: its claims, and itself where they do not explain its status."""
    own = [judged_for_build(part, claim) for claim in part.claims]
    explained = any(claim.status is part.status and not claim.corrected for claim in part.claims)
    if not part.status.holds and not explained:
        sentence = one_line(part.why)
        own.append(BuildFinding(part.id, part, None, outcome_of(part.status, erratum=False), part.status, sentence))
    return own


def judged_for_build(part: TheoremReport, claim: ClaimReport) -> BuildFinding:
    """Judge one claim for a build."""
    erratum = bool(claim.corrected)
    outcome = outcome_of(claim.status, erratum=erratum)
    sentence = one_line(claim.sentence)
    if erratum and outcome is BuildOutcome.HELD:
        sentence = f"As expected, {wording(part.label)} does not hold; {claim.corrected} does. {sentence}"
    elif erratum and claim.status.holds:
        sentence = f"{claim.corrected} is said to hold instead of {wording(part.label)}, yet: {sentence}"
    elif outcome is BuildOutcome.UNDECIDED and (reason := by_key(facts(claim)).get(FactKey.REASON)):
        sentence = f"{sentence} {reason.line}"
    return BuildFinding(part.id, part, claim, outcome, claim.status, one_line(sentence))


def outcome_of(status: Status, *, erratum: bool) -> BuildOutcome:
    """Outcome of a status for a build, by the table above."""
    if status.holds:
        return BuildOutcome.UNDECIDED if erratum else BuildOutcome.HELD
    if status is Status.REFUTED:
        return BuildOutcome.HELD if erratum else BuildOutcome.FAILED
    return BuildOutcome.BROKEN if status is Status.ERROR else BuildOutcome.UNDECIDED


def verdict_counts(document: Document) -> str:
    """Number of theorems of each verdict, the worst first, with their signs.

    A word and a sign for each, as everywhere.
    """
    counts = document.summary.statuses
    known = [status for status in sorted(Status, key=urgency, reverse=True) if counts.get(status)]
    told = [signed(status).replace(" ", f" {counts[status]} ") for status in known]
    unfinished = len(document.summary.unfinished)
    return ", ".join([*told, *([f"{unfinished} not reached"] if unfinished else [])]) or "nothing was checked"
