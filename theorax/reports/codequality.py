"""Code quality report of GitLab: what does not hold, each finding at the line of its statement.

GitLab shows the findings beside a merge request and tells a new one from an old one by its fingerprint. So the fingerprint
is made of file, rule and a name that stays when lines move or numbers change. A finding without a file has no place there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from theorax.reports.build_findings import findings_of_build, worst_first
from theorax.reports.command_answers import Annotation, Answer
from theorax.reports.document import Document
from theorax.reports.github import annotation

CLAIM = "claim"
"""The rule of findings about claims; those about statements have the rules of `verify lint`."""


@dataclass(frozen=True)
class QualityFinding:
    """One finding: ``name`` is what stays the same of it in the next build."""

    rule: str
    name: str
    description: str
    file: str
    line: int | None
    error: bool = True


def gitlab_report(found: Iterable[QualityFinding]) -> str:
    """The report of these findings, as GitLab reads it."""
    rows = [
        {
            "description": one.description,
            "check_name": one.rule,
            "fingerprint": hashlib.sha256(f"{one.file} {one.rule} {one.name}".encode()).hexdigest(),
            "severity": "major" if one.error else "minor",
            "location": {"path": one.file, "lines": {"begin": one.line or 1}},
        }
        for one in found
        if one.file
    ]
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


def text(document: Document) -> str:
    """Every claim of a report that does not hold, the worst first."""
    return gitlab_report(_finding(annotation(finding)) for finding in worst_first(findings_of_build(document)))


def answer_text(answer: Answer) -> str:
    """Every claim that broke, or whatever else the answer remarks at a line of a file."""
    return gitlab_report(_finding(note) for note in answer.annotations)


def _finding(note: Annotation) -> QualityFinding:
    return QualityFinding(CLAIM, note.title, f"{note.title}: {note.message}", note.file, note.line, note.error)
