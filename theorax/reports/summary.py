"""The report of a run over many theorems: one row each, failures last with their details, what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from theorax.decide.status import Status
from theorax.reports.document import Document, TheoremReport, urgency
from theorax.reports.theorem_text import MEANING, references
from theorax.reports.theorem_text import theorem as story
from theorax.text.blocks import Block, Gap, Heading, Lines, Paragraph, Table
from theorax.text.numbers import duration
from theorax.text.signs import signed
from theorax.verifiers.outcome import Expected


def plain(document: Document) -> str:
    """The report as plain text."""
    from theorax.text.plain import render

    return render(report(document))


def report(document: Document, *, listed: bool = False) -> list[Block]:
    """The whole report: of one theorem in full, of several as a table; ``listed`` if each was told by a line before."""
    theorems = document.theorems
    if len(theorems) == 1 and not document.summary.unfinished:
        part = theorems[0]
        return [*story(part, references(part, document.bibliography)), *_troubles(document)]
    top: list[Block] = [Gap()] if listed else []
    if theorems and not listed:
        top = [_table(document)]
    return [*top, *_failures(document), *_closing(document), *_troubles(document)]


def _table(document: Document) -> Table:
    rows = [
        (signed(part.status), part.id, *tried(part), "kept" if part.kept else duration(part.seconds))
        for part in _urgent_last(document.theorems)
    ]
    return Table(
        ("verdict", "theorem", "claims", "controls", "mutants", "time"),
        tuple(rows),
        right=(2, 3, 4, 5),
        wrapped=1,
        indent=0,
    )


def tried(part: TheoremReport) -> tuple[str, str, str]:
    """Numbers of claims, controls and mutants with the expected outcome."""
    wrong = [row for row in part.mutants if row.expected is Expected.KILLED]
    return (
        _ratio(sum(claim.stands for claim in part.claims), len(part.claims)),
        _ratio(sum(row.fired for row in part.controls), len(part.controls)),
        _ratio(sum(row.killed for row in wrong), len(wrong)),
    )


def _urgent_last(theorems: Iterable[TheoremReport]) -> list[TheoremReport]:
    """The theorems such that the most urgent stands last, where a terminal stops scrolling."""
    return sorted(theorems, key=lambda part: urgency(part.status))


def _ratio(good: int, all_: int) -> str:
    return f"{good}/{all_}" if all_ else "–"


def _failures(document: Document) -> Iterator[Block]:
    failed = [part for part in document.theorems if not part.status.holds]
    for part in _urgent_last(failed):
        yield Heading(part.id, status=part.status)
        yield Paragraph(part.title, quiet=True)
        yield Paragraph(part.reason or MEANING[part.status])
        for claim in part.claims:
            if not claim.status.holds and not claim.corrected:
                yield Paragraph(f"{signed(claim.status)} {claim.id}: {claim.sentence}", hang=2)
        for row in part.controls:
            if not row.fired:
                yield Paragraph(f"✗ the control {row.subject} did not fire on {row.claim}: {row.detail}", hang=2)
        if part.log:
            yield Paragraph(f"The full traceback is in {part.log}.")
        if part.status is not Status.BLOCKED:
            yield Lines((f"Replay: {part.replay}",), indent=2)


def _closing(document: Document) -> Iterator[Block]:
    summary = document.summary
    counts = ", ".join(f"{summary.statuses[name]} {name}" for name in Status if name in summary.statuses)
    kept = f", {summary.kept} of them kept" if summary.kept else ""
    theorems = f"{summary.theorems} theorem{'s' * (summary.theorems != 1)}{kept}"
    yield Gap()
    yield Paragraph(f"{theorems}: {counts or 'nothing finished'}.", indent=0)
    told = f"{duration(summary.seconds)}, {summary.programs} compiled programs"
    if summary.compile_share is not None:
        told += f", compiling {duration(summary.compile_seconds)} or {summary.compile_share:.0%} of the CPU time"
    yield Paragraph(f"{told}.", indent=0, quiet=True)
    suite = document.suite
    if suite.refutations + suite.supports > 1:
        yield Paragraph(suite.sentence, indent=0, quiet=True)


def _troubles(document: Document) -> Iterator[Block]:
    summary = document.summary
    if summary.interrupted:
        left = ", ".join(summary.unfinished) or "none"
        yield Paragraph(f"Interrupted. What had finished is kept; not finished: {left}.", indent=0)
    for sentence in summary.troubles:
        yield Paragraph(f"Note: {sentence}", indent=0, hang=2)
