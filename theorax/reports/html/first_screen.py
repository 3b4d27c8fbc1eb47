"""First screen of the audit: how many hold, how they were shown, what needs a person, what is fragile, what did not run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from theorax.decide.findings import ShownBy
from theorax.decide.phrases import factor_text
from theorax.decide.status import Status
from theorax.names import many
from theorax.reports.document import Document, TheoremReport
from theorax.reports.last_screen import claimed_and_found
from theorax.verifiers.outcome import Expected

GROUPS = (
    ("good", "hold", tuple(status for status in Status if status.holds)),
    ("bad", "refuted", (Status.REFUTED,)),
    ("open", "undecided", (Status.INCONCLUSIVE, Status.VACUOUS)),
    ("idle", "without a verdict", (Status.BLOCKED, Status.ERROR)),
)
NOT_RUN = "not run"
LISTED = 6  # rows of a list that stand open; the others are folded


def tone(status: str) -> str:
    """The colour family of a status; a noticed control or a rejected mutant is good whatever the status is."""
    return next((name for name, _, statuses in GROUPS if status in statuses), "open")


@dataclass(frozen=True)
class Card:
    """Group of verdicts under one word, with the number of each."""

    tone: str
    what: str
    count: int
    parts: tuple[tuple[Status, int], ...] = ()


def cards(document: Document) -> list[Card]:
    """The groups of verdicts that have any, and what did not run."""
    statuses = document.summary.statuses
    found = []
    for tone_, what, names in GROUPS:
        parts = tuple((name, statuses[name]) for name in names if statuses.get(name))
        found.append(Card(tone_, what, sum(count for _, count in parts), parts))
    found.append(Card("unrun", NOT_RUN, len(document.summary.unfinished)))
    return [card for card in found if card.count]


def headline(document: Document) -> str:
    """The result of the run in one line."""
    all_, hold = document.asked, document.hold
    if not document.theorems:
        return f"No theorem was checked, {all_} {NOT_RUN}" if all_ else "No theorem was checked"
    told = f"{hold} of {all_} hold{'s' * (all_ == 1)}"
    if hold == all_:
        told = "The theorem holds" if all_ == 1 else f"All {many(all_, 'theorem')} hold"
    return ", ".join([told, *(f"{card.count} {card.what}" for card in cards(document) if card.what != "hold")])


def bar(document: Document) -> list[tuple[Card, float, float]]:
    """The cards as parts of a line of length 100: each with its start and its length."""
    found, start = [], 0.0
    for card in cards(document):
        length = 100 * card.count / document.asked
        found.append((card, round(start, 2), round(length, 2)))
        start += length
    return found


def claims_shown(document: Document) -> tuple[int, list[tuple[str, int]]]:
    """Number of claims, and of those that were proved, certified, measured, refuted or left open; none is empty.

    A statement as a source misprints it is no claim of the theorem.
    """
    claims = [claim for part in document.theorems for claim in part.claims if claim.corrected is None]
    held = Counter(claim.shown_by for claim in claims if claim.status.holds)
    refuted = sum(claim.status is Status.REFUTED for claim in claims)
    found = [(str(by), held[by]) for by in ShownBy]
    found += [("refuted", refuted), ("open", len(claims) - sum(held.values()) - refuted)]
    return len(claims), [(word, count) for word, count in found if count]


@dataclass(frozen=True)
class Need:
    """One line of what needs a person: a claim that does not hold, or a theorem whose check came to no claim."""

    theorem: TheoremReport
    status: Status
    within: bool
    alone: bool
    claim: int | None  # the place among the theorem's claims
    told: str
    plot: bool = False


def needs(document: Document) -> list[Need]:
    """The claims and theorems that do not hold, worst first; theorems that wait for others come last."""
    return [need for part in document.worst_first if not part.status.holds for need in _needs(part)]


def _needs(part: TheoremReport) -> Iterator[Need]:
    open_ = [at for at, claim in enumerate(part.claims) if not claim.status.holds and claim.corrected is None]
    if part.status is Status.BLOCKED or not open_:
        told = f"waits for {', '.join(part.blocked_by)}" if part.blocked_by else part.why
        yield Need(part, part.status, part.within_margin, part.alone, None, told)
        return
    for at in open_:
        claim = part.claims[at]
        plot = claim.deciding is not None and len(claim.deciding.points) > 1
        yield Need(
            part, claim.status, claim.within_margin, claim.alone, at, claimed_and_found(claim) or claim.sentence, plot
        )


@dataclass(frozen=True)
class FragileClaim:
    """A claim that holds, and would be open under a class of corrections twice as wide: the factor that it stands."""

    theorem: TheoremReport
    claim: int
    factor: str


def fragile(document: Document) -> list[FragileClaim]:
    """The fragile claims, the weakest first."""
    found = [
        (claim.reach.factor, part, at)
        for part in document.theorems
        for at, claim in enumerate(part.claims)
        if claim.reach is not None and claim.reach.fragile
    ]
    return [FragileClaim(part, at, factor_text(factor)) for factor, part, at in sorted(found, key=lambda row: row[:1])]


def why_not_run(document: Document) -> str:
    """The reason why theorems of the run have no result."""
    return "the run was interrupted before" if document.summary.interrupted else "this report is a part of the run"


def attacks(theorems: Sequence[TheoremReport]) -> dict[str, int]:
    """Number of controls and of mutants, and of those that the checks noticed."""
    wrong = [row for part in theorems for row in part.mutants if row.expected is Expected.KILLED]
    tests = [row for part in theorems for row in part.controls]
    return {
        "controls": len(tests),
        "fired": sum(row.fired for row in tests),
        "mutants": len(wrong),
        "killed": sum(row.killed for row in wrong),
        "claims": sum(len(part.claims) for part in theorems),
    }
