"""Answers of commands that are no report of theorems: a comparison, a replay, a claim about a table; in every format.

An answer is told by blocks, as JSON by its own document, and to a build by cases and annotations. `renderings` names
these functions beside those of reports, so every command has the same formats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from theorax.reports import json
from theorax.reports.build_findings import BuildOutcome
from theorax.text import markdown_blocks
from theorax.text.blocks import Block, Paragraph
from theorax.text.plain import render
from theorax.text.safe import one_line, visible

__all__ = ["Annotation", "Answer", "BuildCase", "as_json", "markdown", "plain_text", "safe_answer"]


@dataclass(frozen=True)
class BuildCase:
    """One line of a build's table of tests: what was judged, how it came out and why."""

    suite: str
    name: str
    outcome: BuildOutcome
    status: str  # the word of the verdict
    title: str
    sentence: str
    text: str
    file: str = ""
    line: int | None = None
    seconds: float = 0.0
    properties: Mapping[str, str] = field(default_factory=dict)  # of its suite


@dataclass(frozen=True)
class Annotation:
    """A remark that a build shows at a line of a file; ``error`` or a warning."""

    error: bool
    title: str
    message: str
    file: str = ""
    line: int | None = None


@dataclass(frozen=True)
class Answer:
    """The answer of a command: its first line, its JSON document, its blocks, and what a build is told."""

    title: str
    document: Any
    blocks: tuple[Block, ...]
    cases: tuple[BuildCase, ...]
    annotations: tuple[Annotation, ...] = ()
    created: str = ""

    @property
    def body(self) -> tuple[Block, ...]:
        """The blocks below the title, where that is a heading of its own."""
        first, *rest = self.blocks
        return tuple(rest) if isinstance(first, Paragraph) and first.text == self.title else self.blocks


def plain_text(answer: Answer) -> str:
    """The answer as plain text."""
    return render(answer.blocks)


def as_json(answer: Answer) -> str:
    """The document of the answer as JSON text."""
    return json.text(answer.document)


def markdown(answer: Answer, blocks: int | None = None) -> str:
    """The answer as GitHub-flavoured Markdown; its first ``blocks`` alone where that is given."""
    return f"# {markdown_blocks.inline_text(answer.title)}\n\n{markdown_blocks.render(answer.body[:blocks], 2)}"


def safe_answer(answer: Answer) -> Answer:
    """The answer with every text for a build made visible; the blocks are made so by each format."""
    cases = tuple(
        replace(
            case,
            suite=visible(case.suite),
            name=visible(case.name),
            title=visible(case.title),
            sentence=visible(case.sentence),
            text=visible(case.text),
            file=visible(case.file),
            properties={name: visible(value) for name, value in case.properties.items()},
        )
        for case in answer.cases
    )
    annotations = tuple(
        replace(note, title=visible(note.title), message=visible(note.message), file=visible(note.file))
        for note in answer.annotations
    )
    return replace(answer, title=one_line(answer.title), cases=cases, annotations=annotations)
