"""The results that a release ships: the report of its whole library, checked at standard effort.

``report.json.xz`` is the report itself. ``heads.json`` holds, for each theorem, its word, the number of its draws and the
digest of its file, so that a list of theorems is shown without unpacking the report. A theorem file that differs from the
one that was checked has no result: a release speaks only of the text that it checked.

`python benchmarks/library.py --effort standard --keep` writes both files from the run that it measures.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theorax.errors import UsageError
from theorax.text.numbers import grouped_digits

if TYPE_CHECKING:
    from theorax.reports.document import Document

FOLDER = Path(__file__).parent / "shipped"
HEADS, REPORT = "heads.json", "report.json.xz"
LARGEST = 3 * 2**20
"""Bytes of the compressed report: a wheel carries it."""


@dataclass(frozen=True)
class ReleasedTheorem:
    """One theorem at a release; ``file`` is the SHA-256 of its file's bytes."""

    status: str
    draws: int
    file: str


@dataclass(frozen=True)
class ReleasedTheorems:
    """The theorems of a release."""

    release: str
    effort: str
    created: str
    theorems: dict[str, ReleasedTheorem]

    def line(self, id: str, path: Path) -> str:
        """The release's word for the theorem in this file; empty if the release did not check this text.

        Example: ``SUPPORTED at release 0.1.0, 12 000 draws``.
        """
        head = self.theorems.get(id)
        if head is None or head.file != _digest(path):
            return ""
        drawn = f", {grouped_digits(head.draws)} draws" if head.draws else ""
        return f"{head.status} at release {self.release}{drawn}"


@cache
def heads(folder: Path = FOLDER) -> ReleasedTheorems:
    """The theorems of the release that is installed; none if it ships no results."""
    try:
        found: dict[str, Any] = json.loads((folder / HEADS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ReleasedTheorems("", "", "", {})
    return ReleasedTheorems(
        **{**found, "theorems": {id: ReleasedTheorem(*row) for id, row in found["theorems"].items()}}
    )


def release_report(folder: Path = FOLDER) -> Document:
    """The report that the release ships.

    **Raises:** UsageError if it ships none.
    """
    from theorax.reports.reading import current

    path = folder / REPORT
    if not path.is_file():
        raise UsageError(
            "This installation ships no results of a release. Install a released wheel, or name a report: "
            "`verify replay report.json`."
        )
    return current(json.loads(lzma.decompress(path.read_bytes())), "the report of the release")


def write_release(document: Document, path_of: Callable[[str], Path], folder: Path = FOLDER) -> int:
    """Keep a report of the whole library as the release's, and return the bytes of its compressed file.

    ``path_of`` gives the file of each theorem. The typed command of the run is left out: it names the places of one
    machine.

    **Raises:** UsageError if the report is not of a whole run on the library's own terms, or too large for a wheel.
    """
    if document.shard is not None or document.summary.interrupted or document.settings.model is not None:
        raise UsageError("A release ships the report of a whole run without a model of the user. Run `verify all`.")
    effort = document.settings.effort
    from theorax.text.codec import json_values

    document = replace(document, command=f"verify all --effort {effort} --fresh")
    packed = lzma.compress(
        json.dumps(json_values(document), ensure_ascii=False).encode("utf-8"), preset=9 | lzma.PRESET_EXTREME
    )
    if len(packed) > LARGEST:
        raise UsageError(f"The compressed report has {len(packed)} bytes; a wheel carries at most {LARGEST}.")
    rows = {part.id: [str(part.status), part.work.draws, _digest(path_of(part.id))] for part in document.theorems}
    of = {"release": document.generator.split()[-1], "effort": effort, "created": document.created, "theorems": rows}
    folder.mkdir(exist_ok=True)
    (folder / REPORT).write_bytes(packed)
    (folder / HEADS).write_text(json.dumps(of, indent=1) + "\n", encoding="utf-8")
    return len(packed)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
