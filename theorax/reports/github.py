"""For a build on GitHub: the step's summary within its limit, and annotations on the lines that state what does not hold.

GitHub takes a summary of at most 1 MiB from a step and shows ten annotations of it; what is longer it drops whole. So the
worst comes first, and a sentence says what was left out.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from theorax.errors import UsageError
from theorax.reports.findings import Finding, Outcome, findings, tally, worst_first
from theorax.reports.markdown import brief, detail, foot, head, overview
from theorax.reports.markdown import worst_first as theorems_worst_first
from theorax.reports.summary import GREEN
from theorax.text.safe import one_line, shortened

Part = Mapping[str, Any]

LIMIT = 1024 * 1024  # bytes that a step may write
SPARE = 1024  # bytes kept for the sentence about what was left out
ANNOTATIONS = 10
MESSAGE = 2000  # characters of an annotation
VARIABLE = "GITHUB_STEP_SUMMARY"


def summary(document: Part, limit: int = LIMIT) -> str:
    """The step's summary in at most ``limit`` bytes: counts, the table, what does not hold, what holds.

    Where there is no room for a theorem's whole report it is told in short, and where there is none for that it is left
    out, from the end; the last sentence says how many were.
    """
    theorems = theorems_worst_first(document["theorems"])
    room = _Room(limit - SPARE)
    room.take(f"{head(document)}\n")
    end = f"\n{foot(document)}"
    room.keep(end)
    lines = list(overview(theorems))
    rows = sum(room.take(line) for line in lines)
    short: list[Part] = []
    out: list[Part] = []
    for part in theorems:
        if out or not room.take(f"\n{detail(part)}"):
            shown = not out and part["status"] not in GREEN and room.take(f"\n{brief(part)}")
            (short if shown else out).append(part)
    told = _left_out(len(lines) - rows, short, out)
    return "".join(room.taken) + told + (end if room.kept else "")


class _Room:
    """Texts that fit into a number of bytes."""

    def __init__(self, size: int) -> None:
        self.taken: list[str] = []
        self.kept = False
        self._left = size

    def take(self, text: str) -> bool:
        """Add a text if it fits."""
        size = len(text.encode("utf-8"))
        if size > self._left:
            return False
        self._left -= size
        self.taken.append(text)
        return True

    def keep(self, text: str) -> None:
        """Reserve the room of a text that is added later, where it takes a small part of it."""
        size = len(text.encode("utf-8"))
        self.kept = size <= self._left // 4
        self._left -= size if self.kept else 0


def _left_out(rows: int, short: list[Part], out: list[Part]) -> str:
    told = []
    if rows > 0:
        told.append(f"{rows} rows of the table")
    if short:
        told.append(f"the details of {len(short)} that do not hold")
    if out:
        holding = sum(part["status"] in GREEN for part in out)
        which = "which hold" if holding == len(out) else f"of which {len(out) - holding} do not hold"
        told.append(f"the reports of {len(out)} theorems, {which}")
    if not told:
        return ""
    return (
        f"\n**Left out**, because GitHub takes 1 MiB from a step: {'; '.join(told)}. "
        "`--output json=report.json` has everything.\n"
    )


def commands(document: Part) -> list[str]:
    """At most ten commands of a workflow, the worst first, on the line of the theorem's file that states the claim."""
    return [_annotation(finding) for finding in worst_first(findings(document))[:ANNOTATIONS]]


def _annotation(finding: Finding) -> str:
    level = "warning" if finding.outcome is Outcome.UNDECIDED else "error"
    properties = {}
    if finding.theorem["file"]:
        properties["file"] = finding.theorem["file"]
        line = finding.claim["line"] if finding.claim is not None else 1
        if line is not None:
            properties["line"] = str(line)
    properties["title"] = one_line(shortened(finding.title, 200))
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    message = shortened(finding.sentence, MESSAGE)
    if finding.theorem["replay"]:
        message = f"{message}\nReplay: {shortened(finding.theorem['replay'], MESSAGE)}"
    return f"::{level} {told}::{_data(message)}"


def _data(text: str) -> str:
    """A message as a workflow command takes it."""
    # The older form of a command may begin within a line.
    return text.replace("##[", "#\\#[").replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """A property as a workflow command takes it."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def say(document: Part) -> str:
    """What the standard output gets: the annotations, and in a word how it went.

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


def append(document: Part, path: Path) -> None:
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
