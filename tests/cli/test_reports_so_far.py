"""A run that is killed leaves the report of what had finished, and says that it is not the whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import fakes
import pytest

from theorax.reports import reports_so_far
from theorax.reports.reading import read
from theorax.reports.reports_so_far import REST, ReportsSoFar
from theorax.verifiers.settings import Settings

COMMAND = """
import sys
from pathlib import Path
from theorax.cli.main import exit_code_of
from theorax.cli.workspace import Workspace
sys.exit(exit_code_of(Workspace(library=Path(sys.argv[1]), check="fakes:check", arguments=tuple(sys.argv[2:]))))
"""


@pytest.fixture
def killed(root: Path, verify) -> Path:
    """The report of a run whose last check killed the process."""
    fakes.library(root, dies=fakes.stated(uses=("gap",)))
    words = ("theorem", "bulk", "gap", "dies", "--jobs", "1", "-o", "json=report.json")
    path = os.pathsep.join([str(Path(fakes.__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, str(root), *words],
        env={**os.environ, "PYTHONPATH": path}, check=False, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == -9, done.stderr
    return Path("report.json")


def test_what_had_finished_is_in_the_report_of_a_killed_run(killed, verify):
    found = read(killed)
    # Writing rests after each report: the first is there, the second may be.
    assert found.summary.interrupted and found.summary.exit_code == 130
    assert {*found.by_id} in ({"bulk"}, {"bulk", "gap"})
    assert {*found.by_id, *found.summary.unfinished} == {"bulk", "gap", "dies"}
    assert [file.name for file in Path.cwd().iterdir() if file.name.endswith(".part")] == []
    shown = verify("report", "render", "report.json").out
    assert "dies" in shown and "not finished" in shown
    refused = verify("baseline", "save", "baseline.json", "--report", "report.json")
    assert refused.code == 2 and "is the report of a run that did not end" in refused.err
    assert not Path("baseline.json").exists()


def test_a_run_that_ends_leaves_the_whole_report(verify):
    assert verify("theorem", "bulk", "gap", "--jobs", "1", "-o", "json=report.json").code == 0
    found = read(Path("report.json"))
    assert not found.summary.interrupted and {*found.by_id} == {"bulk", "gap"}


def test_writing_takes_a_bounded_share_of_the_run(tmp_path, monkeypatch):
    clock = [100.0]
    written: list[float] = []

    def slow(*_: object) -> str:
        written.append(clock[0])
        clock[0] += 2.0
        return "{}"

    monkeypatch.setattr(reports_so_far.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(reports_so_far, "document", slow)
    told = ReportsSoFar([tmp_path / "report.json"], Settings(), [])
    for _ in range(4000):
        told(None)
        clock[0] += 1.0
    assert 2.0 * len(written) <= (clock[0] - 100.0) / REST + 2.0
    assert len(written) > 10
