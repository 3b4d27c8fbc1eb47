"""A replay in words: the results that are equal to the last bit, and the places of the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from theorax.reports.build_findings import BuildOutcome
from theorax.reports.command_answers import Annotation, Answer, BuildCase
from theorax.reports.document import Document, TheoremReport
from theorax.reports.replaying import DIFFERENT, GONE, IDENTICAL, WITHIN, Deviation, Replay, ReplayedTheorem
from theorax.text.blocks import Block, Gap, Lines, Paragraph
from theorax.text.numbers import number
from theorax.text.plain import render

SIGNS = {IDENTICAL: "=", WITHIN: "≈", DIFFERENT: "≠", GONE: "?"}
OUTCOMES = {DIFFERENT: BuildOutcome.FAILED, GONE: BuildOutcome.UNDECIDED}
SHOWN = 6


def replay_as_plain_text(found: Replay) -> str:
    """The replay as plain text."""
    return render(replay_blocks(found))


def replay_answer(found: Replay, then: Document) -> Answer:
    """The replay for every format; ``then`` is the report that was replayed."""
    return Answer(
        title=_counted(found),
        document=found,
        blocks=tuple(replay_blocks(found)),
        cases=tuple(_case(part, then.by_id[part.id]) for part in found.theorems),
        annotations=tuple(
            Annotation(
                True, f"{SIGNS[part.result]} {part.id}: {part.result}", _sentence(part), then.by_id[part.id].file, 1
            )
            for part in found.theorems
            if part.result == DIFFERENT
        ),
        created=found.replayed,
    )


def _case(part: ReplayedTheorem, then: TheoremReport) -> BuildCase:
    return BuildCase(
        suite=f"{then.paper}.{then.id}" if then.paper else then.id,
        name="replay",
        outcome=OUTCOMES.get(part.result, BuildOutcome.HELD),
        status=part.result,
        title=f"{SIGNS[part.result]} {part.id}",
        sentence=_sentence(part),
        text=render(_theorem(part)),
        file=then.file,
        line=1 if then.file else None,
        properties={"title": then.title, "replay": then.replay},
    )


def _sentence(part: ReplayedTheorem) -> str:
    if part.why or not part.differences:
        return part.why or f"{part.result}, {part.numbers} numbers"
    return _difference(part.differences[0])


def _counted(found: Replay) -> str:
    from theorax.reports.theorem_text import moment

    results = [part.result for part in found.theorems]
    counts = ", ".join(f"{results.count(name)} {name}" for name in SIGNS if name in results)
    return f"The report of {moment(found.created)}, checked again: {counts or 'nothing'}."


def replay_blocks(found: Replay) -> list[Block]:
    """Every theorem with its result, those that differ with the places where."""
    blocks: list[Block] = []
    for part in sorted(found.theorems, key=lambda part: list(SIGNS).index(part.result)):
        blocks += _theorem(part)
    return [*blocks, Gap(), Paragraph(_counted(found), indent=0)]


def _theorem(part: ReplayedTheorem) -> Iterator[Block]:
    told = f"{SIGNS[part.result]} {part.id}: {part.result}"
    if part.why:
        told += f"; {part.why}"
    elif part.result == IDENTICAL:
        told += f", {part.numbers} numbers"
    yield Paragraph(told, indent=0, hang=2)
    if part.result == IDENTICAL:
        return
    for row in part.differences[:SHOWN]:
        yield Paragraph(_difference(row), indent=4, hang=2)
    if len(part.differences) > SHOWN:
        yield Paragraph(f"and {len(part.differences) - SHOWN} more", indent=4)
    if part.result == DIFFERENT:
        if part.inputs:
            yield Paragraph("It is not the same computation any more:", indent=4)
            yield Lines(part.inputs[:SHOWN], indent=6)
            if len(part.inputs) > SHOWN:
                yield Lines((f"and {len(part.inputs) - SHOWN} more",), indent=6)
        else:
            yield Paragraph("Nothing that determines it differs: this should have come out bit by bit.", indent=4)


def _difference(row: Deviation) -> str:
    place = ", ".join(text for text in (row.claim, row.case) if text)
    then, now = (_value(value) for value in (row.then, row.now))
    told = f"{place}{': ' if place else ''}{row.what} {then} then, {now} now"
    if row.apart:
        told += f", apart by {number(row.apart, 2)}"
        if row.errors:
            told += f" or {number(row.errors, 2)} standard errors"
        if row.account is not None:
            told += f"; {'within' if row.within else 'beyond'} the account of {number(row.account, 2)}"
    return told


def _value(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 80 else text[:77] + "..."
