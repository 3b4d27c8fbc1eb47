"""Attempts are counted by the process that coordinates; a check is told them, and writes nothing."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import fakes
import pytest

from theorax.decide.spending import level_of
from theorax.decide.verdict import LoggedAttempt
from theorax.errors import StatementError
from theorax.runs.attempt_log import FILE, AttemptFile
from theorax.runs.checking import observe, stage
from theorax.runs.known_files import KnownFiles
from theorax.runs.runner import run
from theorax.runs.selectors import select
from theorax.runs.sources import Sources
from theorax.runs.store import Store
from theorax.text.codec import json_values
from theorax.verifiers.attempts import CountedAttempt, GivenAttempts, UncountedAttempts
from theorax.verifiers.settings import Settings

SMALL = Path(fakes.__file__).parent / "reports" / "voice" / "papers"
MEAN = "mean_square"
KNOWN = KnownFiles()  # the package's files are read once for all tests


def settings(tmp_path: Path, **chosen) -> Settings:
    return Settings(effort="quick", at=(("gamma", "1"),), state=str(tmp_path), roots=(str(SMALL),), **chosen)


def entry(number: int) -> LoggedAttempt:
    return LoggedAttempt(number=number, begun="2026-01-02T03:04:05Z", entries=number)


def rows(state: Path) -> list[tuple]:
    with closing(sqlite3.connect(state / FILE)) as connection:
        return connection.execute("SELECT theorem, number, status, process FROM attempts ORDER BY theorem").fetchall()


def test_a_check_is_told_its_attempt_and_writes_nothing(tmp_path):
    asked = stage(MEAN, settings(tmp_path))
    assert isinstance(asked, UncountedAttempts)
    told = GivenAttempts([CountedAttempt(version, entry(3)) for version in asked.versions])
    found = stage(MEAN, settings(tmp_path), told).outcome
    tried = [claim for claim in found.claims if claim.log is not None]
    assert tried
    assert all((claim.attempt, claim.level) == (3, level_of(0.025, 3)) for claim in tried)
    assert {version.claim: status for version, status in told.spent.statuses.items()} == {
        claim.id: claim.status for claim in tried
    }
    assert not list(tmp_path.glob("*.sqlite"))


def test_a_check_in_this_process_and_one_in_stages_are_one(tmp_path):
    alone = observe(MEAN, settings(tmp_path / "one")).outcome
    asked = stage(MEAN, settings(tmp_path / "two"))
    told = GivenAttempts(
        [CountedAttempt(part, claim.log) for part, claim in zip(asked.versions, alone.claims, strict=True)]
    )
    assert json_values(stage(MEAN, settings(tmp_path / "two"), told).outcome.claims) == json_values(alone.claims)


def test_a_claim_that_was_not_counted_is_refused():
    with pytest.raises(StatementError, match="not the one whose attempt was counted"):
        GivenAttempts(()).begin(fakes.version("gap"))


@pytest.fixture
def go(tmp_path, monkeypatch):
    """A run over a small library whose checks have one claim to count each."""
    root = fakes.library(tmp_path / "papers")
    fakes.worker_environment(monkeypatch)

    def call(*words, files=None, **chosen):
        fakes.library(root, **(files or {}))
        catalogue = fakes.catalogue(root)
        given = Settings(state=str(tmp_path / "state"), **chosen)
        return run(select(words, catalogue), given, catalogue, "fakes:counted", sources=Sources(known=KNOWN))

    return call


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_attempt_is_logged_by_the_process_that_coordinates(go, tmp_path, jobs):
    go("gap", "edge", jobs=jobs)
    assert rows(tmp_path / "state") == [(id, 1, "SUPPORTED", os.getpid()) for id in ("edge", "gap")]
    found = go("gap", "edge", jobs=jobs, seed=1)
    assert [record.outcome.claims[0].attempt for record in found.records] == [2, 2]


def test_an_attempt_whose_worker_dies_shows_nothing_and_is_forgotten(go, tmp_path):
    files = {"dies": fakes.stated()}
    found = go("dies", "gap", jobs=2, files=files)
    assert {record.outcome.id: record.outcome.status for record in found.records} == {
        "dies": "ERROR", "gap": "SUPPORTED",
    }  # fmt: skip
    state = tmp_path / "state"
    assert rows(state) == [("dies", 1, "", os.getpid()), ("gap", 1, "SUPPORTED", os.getpid())]
    assert AttemptFile(state).begin(fakes.version("dies"), 5, "2026-01-02T03:04:05Z").number == 1


def test_an_attempt_that_fails_while_it_draws_is_spent(go, tmp_path):
    go("raises", files={"raises": fakes.stated()})
    assert rows(tmp_path / "state") == [("raises", 1, "ERROR", os.getpid())]
    assert AttemptFile(tmp_path / "state").next_number(fakes.version("raises"), 5) == 2


def test_a_log_that_cannot_be_written_is_told_by_the_verdict(go, tmp_path):
    (tmp_path / "state" / FILE).mkdir(parents=True)
    (record,) = go("gap").records
    assert record.outcome.claims[0].log is None


def test_a_log_that_fails_during_a_check_is_told_by_the_verdict(go, tmp_path, monkeypatch):
    def damaged(self, statuses, seed):
        return self._database.connected(lambda connection: connection.execute("SELECT * FROM nothing"))

    monkeypatch.setattr(AttemptFile, "finish", damaged)
    (record,) = go("gap").records
    claim = record.outcome.claims[0]
    assert claim.log is None
    assert any("log of attempts" in row.text for row in claim.ledger)
    assert Store(tmp_path / "state").seconds().keys() == {"gap"}
