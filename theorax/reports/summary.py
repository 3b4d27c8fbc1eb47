"""The report of a run as text: one theorem in about twenty lines, several on one last screen."""

from __future__ import annotations

from collections.abc import Iterator

from theorax.reports.default_report import default_report
from theorax.reports.document import Document, TheoremReport
from theorax.reports.last_screen import last_screen
from theorax.reports.theorem_text import Part, details, references
from theorax.text.blocks import Block, Gap, Lines, Paragraph
from theorax.verifiers.outcome import Expected


def report_as_plain_text(document: Document) -> str:
    """The report as plain text."""
    from theorax.text.plain import render

    return render(report_blocks(document))


def report_blocks(document: Document, *, shown: frozenset[Part] = frozenset()) -> list[Block]:
    """The whole report: of one theorem in about twenty lines, of several the last screen; ``shown`` parts stand before."""
    theorems = document.theorems
    if len(theorems) == 1 and not document.summary.unfinished and document.shard is None:
        return [*_told(document, theorems[0], shown), *_troubles(document)]
    whole = [block for part in theorems for block in (*_told(document, part, shown), Gap())] if shown else []
    return [*whole, Lines(last_screen(document), indent=0), *_troubles(document)]


def _told(document: Document, part: TheoremReport, shown: frozenset[Part]) -> list[Block]:
    """The report of one theorem with the parts that are shown."""
    return [*default_report(document, part), *details(part, shown, references(part, document.bibliography))]


def tried(part: TheoremReport) -> tuple[str, str, str]:
    """Numbers of claims, controls and mutants with the expected outcome."""
    wrong = [row for row in part.mutants if row.expected is Expected.KILLED]
    return (
        _ratio(sum(claim.stands for claim in part.claims), len(part.claims)),
        _ratio(sum(row.fired for row in part.controls), len(part.controls)),
        _ratio(sum(row.killed for row in wrong), len(wrong)),
    )


def _ratio(good: int, all_: int) -> str:
    return f"{good}/{all_}" if all_ else "–"


def _troubles(document: Document) -> Iterator[Block]:
    summary = document.summary
    if summary.interrupted:
        left = ", ".join(summary.unfinished) or "none"
        yield Paragraph(f"Interrupted. Finished results are kept; not finished: {left}.", indent=0)
    single = len(document.theorems) == 1 and document.shard is None  # whose report names what it depends on
    for sentence in summary.troubles if single else document.notes:
        yield Paragraph(f"Note: {sentence}", indent=0, hang=2)
