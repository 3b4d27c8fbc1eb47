"""The harness sees what it looks for: faults planted in the store, the pool, the exit code and every format are counted."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import fakes
import pytest

sys.path.append(str(Path(__file__).parents[1] / "reports"))

from test_document import report

from tests.faults import flips, formats, kills, limits, user_code
from tests.faults.counts import Counts
from theorax.reports.renderings import RENDERINGS, render
from theorax.runs import seals
from theorax.runs.store import Store

DATE = "2026-01-02T03:04:05Z"


@pytest.fixture
def counts():
    return Counts()


def broken(counts: Counts) -> list[str]:
    return [promise for promise, trials in counts.broken.items() if trials]


@pytest.fixture
def failing():
    refuted = fakes.outcome("edge", "REFUTED", "gap: The limit is not 2.")
    found = report(fakes.outcome("gap"), refuted)
    # Reports for a build name the file.
    return replace(found, theorems=tuple(replace(part, file=f"claims/{part.id}.py") for part in found.theorems))


def test_formats_that_tell_the_truth_break_nothing(counts, failing):
    formats.attack(counts, failing)
    assert broken(counts) == [] and counts.tried["formats"] == 2 * len(RENDERINGS)


@pytest.mark.parametrize("name", RENDERINGS)
def test_a_format_that_reads_as_a_success_is_seen(counts, failing, name):
    """A rendering that leaves out what was refuted."""
    green = report(fakes.outcome("gap"))
    formats.attack(counts, failing, lambda each, given: render(each, green if each == name else given))
    assert {line.split()[0] for line in counts.broken["wrongly green"]} == {name}


@pytest.fixture
def store(tmp_path):
    kept = Store(tmp_path / "state")
    kept.put(
        {"theorem": "a", "setting at": "()", "setting sizes": "()", "setting model": "None"},
        fakes.outcome("gap"),
        DATE,
        b"x",
    )
    return kept


def test_a_store_that_is_whole_breaks_nothing(counts, store):
    flips.attack(counts, 40, random.Random(1), store.state)
    assert broken(counts) == []


class InDates(random.Random):
    """Places of bits inside the dates of a store: a flip of any bit of a file seldom meets what a row says."""

    def __init__(self, store):
        super().__init__(1)
        with closing(sqlite3.connect(store.path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.first = store.path.read_bytes().index(DATE.encode())

    def randrange(self, *_):
        return 8 * self.first + super().randrange(8 * len(DATE))


def test_a_store_that_believes_its_rows_is_seen(counts, store, monkeypatch):
    monkeypatch.setattr(seals, "has_valid_seal", lambda row: True)
    flips.attack(counts, 64, InDates(store), store.state)
    assert broken(counts) == ["wrongly green"]


TRIALS = [kills.Trial(1, target, signal, 1.0) for target in ("parent", "group") for signal in ("TERM", "INT", "HUP")]


@pytest.mark.parametrize("trial", TRIALS, ids=str)
@pytest.mark.parametrize(("code", "seen"), [(130, False), (0, False), (1, True), (3, True), (4, True), (2, True)])
def test_an_interrupted_run_with_another_code_is_seen(counts, trial, code, seen):
    kills.judge_code(counts, trial, code)
    assert broken(counts) == (["wrong exit codes"] if seen else [])


def done(code: int, out: str = "", err: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess((), code, out, err)


@pytest.mark.parametrize(
    ("end", "promises"),
    [
        (done(0, "✓ SUPPORTED x\nNot kept: the disk is full"), []),
        (done(0, "✓ SUPPORTED x\nAgain"), ["losses without a word"]),  # a full disk that was swallowed
        (done(3, "Not kept: the disk is full"), ["wrong exit codes"]),
        (done(0, "Not kept: the disk is full"), ["wrongly green"]),
        (done(0, "✓ SUPPORTED x", "Traceback\nkept"), ["tracebacks for a user's mistake"]),
    ],
)
def test_a_full_disk_that_is_swallowed_is_seen(counts, end, promises):
    limits.judge(counts, limits.FULL[0], end)
    assert broken(counts) == promises


@pytest.mark.parametrize(
    ("code", "text", "promises"),
    [
        (3, '{"summary": {"exit_code": 3}}', []),
        (0, '{"summary": {"exit_code": 3}}', ["wrongly green"]),
        (0, "", ["wrongly green"]),
        (3, "", ["wrongly green"]),
        (-11, "", ["wrongly green"]),
    ],
)
def test_a_command_that_a_theorem_ended_is_seen(counts, tmp_path, code, text, promises):
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    user_code.judge(counts, "os._exit", code, "", tmp_path / "r.json")
    assert broken(counts) == promises


def test_a_process_that_stays_is_seen(tmp_path):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], cwd=tmp_path) as child:
        try:
            assert child.pid in user_code._of(str(tmp_path))
        finally:
            child.kill()


def test_a_pool_that_lets_a_theorem_end_the_command_is_seen(counts, monkeypatch):
    """The check runs in the process that reports, as it did before."""
    inline = user_code.COMMAND.replace("import sys; ", "import sys; import theorax.theorems.catalogue as c; "
                                       "c.Catalogue.is_a_user_s = lambda *_: False; ")  # fmt: skip
    monkeypatch.setattr(user_code, "COMMAND", inline)
    monkeypatch.setattr(user_code, "WORDS", [word for word in user_code.WORDS if word not in ("--timeout", "3")])
    monkeypatch.setattr(user_code, "PLACES", ("in_build",))
    monkeypatch.setenv("PYTHONPATH", ":".join([str(Path(fakes.__file__).parent), *sys.path]))
    user_code.attack(counts, {"os._exit": user_code.WAYS["os._exit"]})
    assert broken(counts) == ["wrongly green"]
