"""Reports for a build on GitHub: the step's summary within its limit, and annotations on the lines of failed claims.

GitHub takes a summary of at most 1 MiB from a step and shows ten annotations of it; what is longer it drops whole. So the
worst comes first, and a sentence says what was left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path

from theorax.errors import UsageError
from theorax.reports.build_findings import BuildFinding, BuildOutcome, findings, tally, worst_first
from theorax.reports.document import Document
from theorax.reports.markdown import LEGEND, brief, detail, foot, head, overview
from theorax.text.safe import one_line, shortened

LIMIT = 1024 * 1024  # bytes that a step may write
SPARE = 1024  # bytes kept for the sentence about what was left out
ANNOTATIONS = 10
MESSAGE = 2000  # characters of an annotation
VARIABLE = "GITHUB_STEP_SUMMARY"


def summary(document: Document, limit: int = LIMIT) -> str:
    """The step's summary in at most ``limit`` bytes: counts, the table, what does not hold, what holds.

    What does not hold is told at least in short, the worst of it in full, before anything that holds is; where that has
    no room either it is left out from the end, and the last sentence says how much was.
    """
    theorems = document.worst_first
    failing = [part for part in theorems if not part.status.holds]
    holding = theorems[len(failing) :]
    room = _Room(limit - SPARE)
    top = room.taken(f"{head(document)}\n")
    end = f"\n{foot(document)}"
    end = room.taken(end) if _size(end) <= limit // 4 else ""
    lines = list(overview(theorems))
    rows = room.first(lines)
    legend = room.taken(LEGEND) if lines else ""
    told = room.first(f"\n{brief(part)}" for part in failing)
    short = 0
    for at, part in enumerate(failing[: len(told)]):
        full = f"\n{detail(part)}"
        if not short and room.takes(_size(full) - _size(told[at])):
            told[at] = full
        else:
            short += 1
    folded = [] if short else room.first(f"\n{detail(part)}" for part in holding)
    missing = (len(lines) - len(rows), short, len(failing) - len(told), len(holding) - len(folded))
    return "".join([top, *rows, legend, *told, *folded, _left_out(*missing), end])


def _size(text: str) -> int:
    return len(text.encode("utf-8"))


class _Room:
    """Texts that fit into a number of bytes."""

    def __init__(self, size: int) -> None:
        self._left = size

    def takes(self, size: int) -> bool:
        """Take this many bytes if they fit; return True if they did."""
        if size > self._left:
            return False
        self._left -= size
        return True

    def taken(self, text: str) -> str:
        """The text if it fits, else none."""
        return text if self.takes(_size(text)) else ""

    def first(self, texts: Iterable[str]) -> list[str]:
        """The texts up to the first that does not fit."""
        return list(takewhile(lambda text: self.takes(_size(text)), texts))


def _left_out(rows: int, short: int, failing: int, holding: int) -> str:
    counted = (
        (rows, "rows of the table"),
        (short, "full reports of what does not hold"),
        (failing, "theorems that do not hold"),
        (holding, "reports of theorems that hold"),
    )
    told = "; ".join(f"{number} {what}" for number, what in counted if number)
    if not told:
        return ""
    return (
        f"\n**Left out**, because GitHub takes 1 MiB from a step: {told}. `--output json=report.json` has everything.\n"
    )


def commands(document: Document) -> list[str]:
    """At most ten commands of a workflow, the worst first, on the line of the theorem's file that states the claim."""
    return [_annotation(finding) for finding in worst_first(findings(document))[:ANNOTATIONS]]


def _annotation(finding: BuildFinding) -> str:
    level = "warning" if finding.outcome is BuildOutcome.UNDECIDED else "error"
    properties: dict[str, str] = {}
    if finding.file:
        properties["file"] = finding.file
        line = finding.claim.line if finding.claim is not None else 1
        if line is not None:
            properties["line"] = str(line)
    properties["title"] = one_line(shortened(finding.title, 200))
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    message = shortened(finding.sentence, MESSAGE)
    if finding.replay:
        message = f"{message}\nReplay: {shortened(finding.replay, MESSAGE)}"
    return f"::{level} {told}::{_data(message)}"


def _data(text: str) -> str:
    """A message as a workflow command takes it."""
    # The older form of a command may begin within a line.
    return text.replace("##[", "#\\#[").replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """A property as a workflow command takes it."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def say(document: Document) -> str:
    """Text for the standard output: the annotations, then one line of totals.

    Where GitHub names the file of the step's summary, the summary is appended there.

    **Raises:** UsageError if that file cannot be written.
    """
    lines = commands(document)
    problems = len(worst_first(findings(document)))
    told = f"Theorems: {one_line(tally(document))}."
    if problems > len(lines):
        told += f" {problems - len(lines)} more that are not annotated stand in the summary."
    file = os.environ.get(VARIABLE)
    if file:
        append(document, Path(file))
    else:
        told += f" ${VARIABLE} is not set; `--output github=summary.md` writes the summary."
    return "\n".join([*lines, told]) + "\n"


def append(document: Document, path: Path) -> None:
    """Append the summary to the file of a step; what stands there already counts.

    **Raises:** UsageError if the file cannot be written.
    """
    try:
        used = path.stat().st_size if path.exists() else 0
        with path.open("a", encoding="utf-8") as file:
            file.write(summary(document, max(LIMIT - used, 2 * SPARE)))
    except OSError as error:
        raise UsageError(
            f"The summary could not be written to `{path}`, which ${VARIABLE} names: {error.strerror}. "
            "Write `--output github=FILE` for another file."
        ) from None
