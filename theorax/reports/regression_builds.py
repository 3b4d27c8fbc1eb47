"""A comparison with a baseline for every format: a build's cases, and its annotations of changed files and statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from theorax.decide.status import Status
from theorax.names import many
from theorax.reports.build_findings import BuildOutcome
from theorax.reports.command_answers import Annotation, Answer, BuildCase
from theorax.reports.compared_claims import ComparedClaim, Comparison
from theorax.reports.regression_text import (
    SIGNS,
    comparison_blocks,
    comparison_headline,
    sentences,
    statement_and_value,
    words_of,
)

OUTCOMES = {1: BuildOutcome.FAILED, 4: BuildOutcome.UNDECIDED}


def regression_answer(comparison: Comparison, lines: Mapping[str, int] | None = None) -> Answer:
    """The comparison for every format; ``lines`` are the first changed lines of the project's files."""
    return Answer(
        title=comparison_headline(comparison),
        document=comparison,
        blocks=tuple(comparison_blocks(comparison)),
        cases=tuple(_case(row, comparison) for row in comparison.claims),
        annotations=tuple(_annotations(comparison, lines or {})),
        created=comparison.created,
    )


def _case(row: ComparedClaim, comparison: Comparison) -> BuildCase:
    lines = [statement_and_value(row), *sentences(row, comparison.share)]
    return BuildCase(
        suite=row.theorem,
        name=row.claim,
        outcome=OUTCOMES.get(row.exit, BuildOutcome.HELD),
        status=row.change,
        title=f"{SIGNS[row.change]} {row.name} {words_of(row)}",
        sentence=lines[1] if len(lines) > 1 else lines[0],
        text="\n".join([*lines, row.replay]).strip(),
        file=row.file,
        line=row.line,
        properties={"replay": row.replay, "accept": comparison.accept},
    )


def _annotations(comparison: Comparison, lines: Mapping[str, int]) -> Iterator[Annotation]:
    """First a remark on each changed file, then one on the statement of each claim that broke, then the undecided."""
    readers: dict[str, list[str]] = {}
    for cause in comparison.causes:
        for source in comparison.changed.of([comparison.by_name[cause.claim].theorem]).sources:
            readers.setdefault(source, []).append(cause.claim)
    for source, claims in readers.items():
        if source in lines:
            no_longer = f"{many(len(claims), 'claim')} that read{'s' * (len(claims) == 1)} this file no longer hold"
            message = f"{no_longer}{'s' * (len(claims) == 1)}: {', '.join(claims)}."
            yield Annotation(True, f"✗ {many(len(claims), 'claim')} broke", message, source, lines[source])
    broken = [comparison.by_name[cause.claim] for cause in comparison.causes]
    open_ = [row for row in comparison.claims if row.exit and row not in broken and row.now is not Status.BLOCKED]
    for row in (*broken, *open_):
        said = [*sentences(row, comparison.share), *([f"Again: {row.replay}"] if row.replay else [])]
        yield Annotation(
            row.exit == 1, f"{SIGNS[row.change]} {row.name} {words_of(row)}", "\n".join(said), row.file, row.line
        )
