"""JSON reports of a run under way, written again as checks end.

Such a report is that of an interrupted run: its summary says so, names what is unfinished, and has the exit code 130.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from theorax.errors import UsageError
from theorax.reports import json
from theorax.reports.assembly import document
from theorax.runs.runner import Run
from theorax.runs.store import now
from theorax.verifiers.settings import Settings

__all__ = ["ReportsSoFar"]

REST = 100
"""Seconds of checking for each second of writing: at most 1 % of a run is spent on reports that others replace."""


@dataclass
class ReportsSoFar:
    """Writes the JSON report of a run under way to these files; what cannot be written is told when the run ends."""

    files: Sequence[Path]
    settings: Settings
    command: Sequence[str]
    _due: float = 0.0

    def __call__(self, run: Run) -> None:
        """Write the report, unless the last one is too fresh."""
        began = time.monotonic()
        if began < self._due:
            return
        text = json.text(document(run, self.settings, self.command, now()))
        for file in self.files:
            try:
                json.write_text(text, file)
            except UsageError:
                continue
        done = time.monotonic()
        self._due = done + REST * (done - began)
