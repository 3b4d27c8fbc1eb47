"""A theorem's check is made once in a session, whoever asks for it first: another worker waits and reads what it found.

What was found lies in a folder of the session, as the theorem's part of a report; the store of results is used and filled
as the command does.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from theorax.cli.workspace import Workspace
from theorax.reports.document import TheoremReport
from theorax.runs.selectors import Selection
from theorax.runs.sources import Sources
from theorax.text.codec import built, json_values
from theorax.verifiers.settings import Settings


@dataclass
class Checks:
    """The checks of a session's theorems."""

    folder: Path
    workspace: Workspace
    settings: Settings
    named: frozenset[str] = frozenset()  # for these other parameters, sizes and a model are meant
    parts: dict[str, TheoremReport] = field(default_factory=dict)
    sources: Sources | None = None  # read once for all checks

    def part(self, id: str, number: int) -> TheoremReport:
        """The theorem's part of a report; ``number`` tells it from the session's other theorems.

        **Raises:** UsageError if the settings cannot be meant; KeyboardInterrupt if the check was interrupted.
        """
        if id not in self.parts:
            file = self.folder / f"{number}.json"
            with locked(self.folder / f"{number}.lock"):
                if not file.exists():
                    # Written under another name first: a worker that dies while writing leaves nothing to be read.
                    fresh = file.with_suffix(".part")
                    fresh.write_text(json.dumps(json_values(self._check(id))), encoding="utf-8")
                    fresh.replace(file)
            self.parts[id] = built(TheoremReport, json.loads(file.read_text(encoding="utf-8")))
        return self.parts[id]

    def _check(self, id: str) -> TheoremReport:
        from theorax.reports.assembly import document
        from theorax.runs.runner import run
        from theorax.runs.store import now

        with warnings.catch_warnings():
            # A test session may turn warnings into errors; the command does not, and a verdict must be the same.
            warnings.simplefilter("ignore")
            self.sources = self.sources or Sources()
            chosen = Selection((id,), (id,) if id in self.named else ())
            found = run(chosen, self.settings, self.workspace.catalogue, self.workspace.check, sources=self.sources)
        if found.interrupted:
            raise KeyboardInterrupt
        (part,) = document(found, self.settings, ["pytest", "--verify", id], now()).theorems
        return part


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Alone among the processes of this machine; where there are no locks, two may do the same work."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with path.open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # released when the file is closed, also by the end of a process
        yield
