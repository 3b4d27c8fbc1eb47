"""Run the small theorems beside the pictures and write each report with its picture: ``python tests/reports/pictures.py``.

A report keeps everything but the sources that were read, which no picture shows.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from theorax.cli.main import exit_code_of
from theorax.cli.workspace import Workspace
from theorax.reports import summary
from theorax.reports.json import text, write_text
from theorax.reports.reading import read
from theorax.text import plain

VOICE = Path(__file__).parent / "voice"
THEOREMS = VOICE / "papers"


def written(state: Path) -> None:
    """Check every small theorem and write its report and its picture."""
    told = state / "report.json"
    words = ("theorem", "root:papers", "--root", THEOREMS.name, "--effort", "quick", "--jobs", "1", "--fresh")
    exit_code_of(Workspace(arguments=(*words, "--state", str(state), "-o", f"json={told}")))
    whole = read(told)
    for part in whole.theorems:
        log = f".theorax/log/{Path(part.log).name}" if part.log is not None else None
        one = replace(whole.of([part.id]), sources=(), theorems=(replace(part, reads=(), log=log),))
        write_text(text(one), VOICE / f"{part.id}.json")
        write_text(plain.render(summary.report_blocks(one)), VOICE / f"{part.id}.txt")


if __name__ == "__main__":
    os.chdir(VOICE)
    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder))
