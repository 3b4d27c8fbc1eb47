"""Reports for a build on GitHub: the step's summary within its limit, and annotations on the lines of failed claims.

GitHub takes a summary of at most 1 MiB from a step and shows ten annotations of it; what is longer it drops whole. So the
worst comes first, and a sentence says what was left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile
from pathlib import Path

from theorax.errors import UsageError
from theorax.reports.build_findings import BuildFinding, BuildOutcome, findings_of_build, verdict_counts, worst_first
from theorax.reports.command_answers import Annotation, Answer, markdown
from theorax.reports.document import Document
from theorax.reports.markdown import LEGEND, brief, detail, foot, overview, report_opening
from theorax.text.safe import one_line, shortened, uncommanded

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
    top = room.taken(f"{report_opening(document)}\n")
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


def workflow_commands(document: Document) -> list[str]:
    """At most ten commands of a workflow, the worst first, on the line of the theorem's file that states the claim."""
    return [_command(annotation(finding)) for finding in worst_first(findings_of_build(document))[:ANNOTATIONS]]


def annotation(finding: BuildFinding) -> Annotation:
    """The remark on a finding, at the line of its statement."""
    replay = f"\nReplay: {shortened(finding.replay, MESSAGE)}" if finding.replay else ""
    return Annotation(
        finding.outcome is not BuildOutcome.UNDECIDED,
        finding.title,
        f"{shortened(finding.sentence, MESSAGE)}{replay}",
        finding.file,
        finding.claim.line if finding.claim is not None else 1,
    )


def _command(note: Annotation) -> str:
    properties: dict[str, str] = {}
    if note.file:
        properties["file"] = note.file
        if note.line is not None:
            properties["line"] = str(note.line)
    properties["title"] = one_line(shortened(note.title, 200))
    return workflow_command("error" if note.error else "warning", properties, note.message)


def workflow_command(level: str, properties: Mapping[str, str], message: str) -> str:
    """The line of a build's log from which GitHub makes an annotation.

    >>> workflow_command("error", {"file": "claims/a.py", "line": "3"}, "The label is unknown.")
    '::error file=claims/a.py,line=3::The label is unknown.'
    """
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
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
    problems = len(worst_first(findings_of_build(document)))
    told = f"Theorems: {one_line(verdict_counts(document))}."
    return _said(workflow_commands(document), problems, told, lambda limit: summary(document, limit))


def answer_summary(answer: Answer, limit: int = LIMIT) -> str:
    """The answer of another command as the step's summary, cut after a block where it has no room."""
    text = markdown(answer)
    if _size(text) <= limit - SPARE:
        return text
    fits, beyond = 0, len(answer.body)  # by bisection: a longer beginning is never shorter
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        fits, beyond = (middle, beyond) if _size(markdown(answer, middle)) <= limit - SPARE else (fits, middle)
    return markdown(answer, fits) + "\n**Cut here**, because GitHub takes 1 MiB from a step. JSON has everything.\n"


def say_answer(answer: Answer) -> str:
    """Text for the standard output: at most ten annotations, then the first line; the summary goes where GitHub says.

    **Raises:** UsageError if that file cannot be written.
    """
    lines = [_command(note) for note in answer.annotations[:ANNOTATIONS]]
    title = uncommanded(answer.title)
    return _said(lines, len(answer.annotations), title, lambda limit: answer_summary(answer, limit))


def _said(lines: list[str], problems: int, told: str, written: Callable[[int], str]) -> str:
    if problems > len(lines):
        told += f" {problems - len(lines)} more that are not annotated stand in the summary."
    file = os.environ.get(VARIABLE)
    if file:
        _append(Path(file), written)
    else:
        told += f" ${VARIABLE} is not set; `--output github=summary.md` writes the summary."
    return "\n".join([*lines, told]) + "\n"


def _append(path: Path, written: Callable[[int], str]) -> None:
    try:
        used = path.stat().st_size if path.exists() else 0
        with path.open("a", encoding="utf-8") as file:
            file.write(written(max(LIMIT - used, 2 * SPARE)))
    except OSError as error:
        raise UsageError(
            f"The summary could not be written to `{path}`, which ${VARIABLE} names: {error.strerror}. "
            "Write `--output github=FILE` for another file."
        ) from None
