"""The parts of a report as its page shows them: one theorem, one claim, the runs' own numbers; no markup here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from theorax.decide.promise import GROUPS, grouped
from theorax.reports import default_report
from theorax.reports.document import ClaimReport, TheoremReport
from theorax.verifiers.outcome import Expected, HypothesisOutcome, MutantOutcome

COMMANDS = ("To decide", "Again", "Narrow")  # rows that hold a command to type
SCREEN = 160  # columns of text that a wide screen holds


def labelled_rows(part: TheoremReport, effort: str) -> list[tuple[str, str, bool]]:
    """The rows below the claims: label, text, and whether the text is a command."""
    rows = default_report.report_rows(part, effort, more="below")
    return [(row.label, row.text.replace(default_report.GLUE, " "), row.label in COMMANDS) for row in rows]


def as_text(claim: ClaimReport) -> str:
    """The statement as text, beside its formula; empty where there is no formula, or where no screen holds the text."""
    lines = [line.rstrip() for line in claim.statement.splitlines()]
    return "\n".join(lines) if claim.latex and max(map(len, lines), default=0) <= SCREEN else ""


def common_status(claim: ClaimReport) -> str:
    """The verdict that all cases of a claim share; empty where they differ, or where one has a reason."""
    found = {(str(case.status), str(case.reason or "")) for case in claim.cases}
    status, reason = next(iter(found)) if len(found) == 1 else ("", "")
    return "" if reason else status


@dataclass(frozen=True)
class LedgerLine:
    """A line of the ledger, and the claims that it is told of, where these are not all."""

    text: str
    claims: str


@dataclass(frozen=True)
class LedgerGroup:
    """Lines under one heading of the ledger."""

    heading: str
    lines: list[LedgerLine]


def joint_ledger(claims: Sequence[ClaimReport], hypotheses: Sequence[HypothesisOutcome] = ()) -> list[LedgerGroup]:
    """The ledgers of the claims as one: every line once, with the claims it is told of; ``hypotheses`` by name alone."""
    names = {f"{row.name}: {row.sentence}": row.name for row in hypotheses}
    told: dict[str, dict[str, list[str]]] = {heading: {} for _, heading in GROUPS}
    for claim in claims:
        rows = [replace(row, text=names.get(row.text, row.text)) for row in claim.ledger]
        for heading, lines in grouped(rows, claim.unseen):
            for line in lines:
                told[heading].setdefault(line, []).append(claim.id)
    return [
        LedgerGroup(heading, [LedgerLine(text, _of(ids, claims)) for text, ids in lines.items()])
        for heading, lines in told.items()
        if lines
    ]


def _of(ids: Sequence[str], claims: Sequence[ClaimReport]) -> str:
    """The claims that a line is told of, named by the shorter of the two lists; empty for all of them."""
    others = [claim.id for claim in claims if claim.id not in ids]
    if not others:
        return ""
    return f"all but {', '.join(others)}" if len(others) < len(ids) else ", ".join(ids)


@dataclass(frozen=True)
class VariantRow:
    """Variants of a claim that one verdict fits: one of the file with what it says, or all that a rule made."""

    claim: str
    names: str
    statement: str
    verdict: str


def variant_rows(rows: Sequence[MutantOutcome]) -> list[VariantRow]:
    """Variants of the file one by one; those that the machine made by their names alone, for these say what changed."""
    of_file = [row for row in rows if row.origin == "file"]
    found = [
        VariantRow(row.claim, row.name, row.statement, f"{row.status}: {row.detail}" if row.detail else str(row.status))
        for row in of_file
    ]
    made: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.origin != "file":
            made.setdefault((row.claim, str(row.status)), []).append(row.name)
    return found + [VariantRow(claim, "; ".join(names), "", status) for (claim, status), names in made.items()]


def sensitivity(part: TheoremReport) -> dict[str, Any]:
    """Deliberate changes of a claim, and if the check noticed each."""
    rows = part.mutants
    wrong = [row for row in rows if row.expected is Expected.KILLED]
    tight = [row for row in rows if row.expected is Expected.TIGHT]
    others = [row for row in rows if row.expected not in (Expected.KILLED, Expected.TIGHT)]
    strange = [row for row in others if row.expected is Expected.STAYS and row.killed]
    return {
        "controls": part.controls,
        "fired": sum(row.fired for row in part.controls),
        "wrong": wrong,
        "killed": [row for row in wrong if row.killed],
        "survivors": [row for row in wrong if not row.killed],
        "tight": tight,
        "sharper": sum(row.killed for row in tight),
        "strange": strange,
        "uncounted": [row for row in others if row not in strange],
    }


@dataclass(frozen=True)
class Erratum:
    """A claim as a source prints it, the one that holds instead, and the hypotheses that this needs beyond."""

    theorem: TheoremReport
    printed: ClaimReport
    holds: ClaimReport | None
    more: list[str]


@dataclass(frozen=True)
class PaperErrata:
    """The errata of one paper."""

    key: str
    source: str
    entries: list[Erratum]


def errata(theorems: Sequence[TheoremReport]) -> list[PaperErrata]:
    """Errata by paper: the printed claim and its correction."""
    found: dict[str, PaperErrata] = {}
    for part in theorems:
        for printed in part.claims:
            if not printed.corrected:
                continue
            holds = next((claim for claim in part.claims if claim.id == printed.corrected), None)
            paper = found.setdefault(part.paper, PaperErrata(part.paper, part.source, []))
            more = [text for text in _needs(holds) if text not in _needs(printed)]
            paper.entries.append(Erratum(part, printed, holds, more))
    return list(found.values())


def _needs(claim: ClaimReport | None) -> list[str]:
    """The hypotheses of a claim, as its ledger tells them."""
    return [row.text for row in claim.ledger if row.kind == "hypothesis"] if claim is not None else []


def adjusted(theorems: Sequence[TheoremReport]) -> list[tuple[TheoremReport, ClaimReport]]:
    """The claims that spend the run's error budget, with their theorems."""
    return [
        (part, claim)
        for part in theorems
        for claim in part.claims
        if claim.adjusted_refute is not None or claim.adjusted_support is not None
    ]
