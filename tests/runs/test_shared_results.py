"""Results shared between machines: found only at the same attempts, logged as one's own, and never believed when altered."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import fakes
import pytest

from theorax.decide.verdict import LoggedAttempt
from theorax.runs.attempt_log import FILE, AttemptFile
from theorax.runs.known_files import KnownFiles
from theorax.runs.runner import run
from theorax.runs.selectors import select
from theorax.runs.shared_results import SharedResults
from theorax.runs.sources import Sources
from theorax.runs.store import Store
from theorax.text.codec import plain
from theorax.verifiers.attempts import CountedAttempt
from theorax.verifiers.settings import Settings

KNOWN = KnownFiles()  # the package's files are read once for all tests
DATE = "2026-01-02T03:04:05Z"
MANIFEST = {"theorem": "abc", "setting seed": "0", "setting device": "'cpu'", "setting nightly": "False"}


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A function that checks on a machine with a state of its own; all share one folder."""
    root = fakes.library(tmp_path / "papers")
    fakes.worker_environment(monkeypatch)

    def call(name, *words, check="fakes:counted", files=None, share="shared", **chosen):
        fakes.library(root, **(files or {}))
        catalogue = fakes.catalogue(root)
        given = Settings(state=str(tmp_path / name), share=str(tmp_path / share) if share else "", **chosen)
        return run(select(words, catalogue), given, catalogue, check, sources=Sources(known=KNOWN))

    return call


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_second_machine_uses_what_the_first_one_found(machine, tmp_path, jobs):
    first = machine("one", "gap", "edge", jobs=jobs)
    assert not any(record.kept_from for record in first.records)
    second = machine("two", "gap", "edge", jobs=jobs)
    assert all(record.kept_from for record in second.records)
    assert not second.troubles
    for here, there in zip(first.records, second.records, strict=True):
        assert plain(here.outcome.work) == plain(there.outcome.work)
        assert [claim.status for claim in here.outcome.claims] == [claim.status for claim in there.outcome.claims]
    # It is spent and kept here as if it had been checked here.
    log = AttemptFile(tmp_path / "two")
    assert log.next_number(fakes.version("gap"), 5) == 2
    assert Store(tmp_path / "two").statuses().keys() == {"gap", "edge"}
    assert all(record.kept_from for record in machine("two", "gap", "edge", share="").records)


def test_another_attempt_is_checked_here(machine):
    machine("one", "gap")
    machine("two", "gap", seed=1)  # the first attempt of this machine, by other draws
    (record,) = machine("two", "gap").records
    assert record.kept_from is None
    assert record.outcome.claims[0].attempt == 2
    (record,) = machine("three", "gap", seed=1).records
    assert record.kept_from is not None
    (record,) = machine("four", "gap", attempt=2).records
    assert record.kept_from is not None
    assert record.outcome.claims[0].attempt == 2


def test_the_log_that_is_told_is_that_of_the_machine_that_asks(machine, tmp_path):
    machine("one", "gap")
    machine("two", "edge")
    with closing(sqlite3.connect(tmp_path / "two" / FILE)) as connection, connection:
        connection.execute("UPDATE log SET begun = ?", (DATE,))
    (mine,) = machine("two", "gap").records
    assert mine.kept_from is not None
    assert mine.outcome.claims[0].log == LoggedAttempt(number=1, begun=DATE, entries=1)


def test_fresh_checks_and_sources_that_differ_do_not_use_it(machine):
    machine("one", "gap")
    assert machine("two", "gap", fresh=True).records[0].kept_from is None
    changed = fakes.stated().replace("A theorem", "Another theorem")
    assert machine("three", "gap", files={"gap": changed}).records[0].kept_from is None


@pytest.mark.parametrize("place", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_an_altered_file_is_told_and_checked_again_and_mended(machine, tmp_path, place):
    machine("one", "gap")
    (path,) = files(tmp_path / "shared")
    whole = path.read_bytes()
    data = bytearray(whole)
    data[int(place * len(data))] ^= 4
    path.write_bytes(data)
    found = machine("two", "gap")
    assert found.records[0].kept_from is None
    assert any("altered" in trouble or "cannot be used" in trouble for trouble in found.troubles)
    assert machine("three", "gap").records[0].kept_from is not None


def test_a_file_under_another_name_is_not_believed(machine, tmp_path):
    machine("one", "gap")
    machine("one", "edge")
    first, second = files(tmp_path / "shared")
    second.write_bytes(first.read_bytes())
    found = machine("two", "gap", "edge")
    assert sum(record.kept_from is None for record in found.records) == 1
    assert {record.outcome.id for record in found.records} == {"gap", "edge"}


def test_errors_nights_and_accelerators_are_not_shared(tmp_path):
    shared = SharedResults(tmp_path)
    shared.put(MANIFEST, (), fakes.outcome("gap", "ERROR"), DATE)
    shared.put({**MANIFEST, "setting nightly": "True"}, (), fakes.outcome("gap"), DATE)
    shared.put({**MANIFEST, "setting device": "'gpu'"}, (), fakes.outcome("gap"), DATE)
    shared.put(MANIFEST, [CountedAttempt(fakes.version("gap"), None)], fakes.outcome("gap"), DATE)
    assert not files(tmp_path)
    shared.put(MANIFEST, (), fakes.outcome("gap"), DATE, b"npz")
    found = shared.get(MANIFEST)
    assert found is not None
    assert (found.date, found.observations, found.outcome) == (DATE, b"npz", fakes.outcome("gap"))
    assert not list(tmp_path.rglob(".*"))


def test_what_tries_nothing_on_data_is_shared_without_an_attempt(machine):
    machine("one", "gap", check="fakes:check")
    assert machine("two", "gap", check="fakes:check").records[0].kept_from is not None


def test_a_folder_that_cannot_be_used_stops_nothing(machine, tmp_path):
    (tmp_path / "shared").write_text("a file")
    found = machine("one", "gap")
    assert found.records[0].outcome.status == "SUPPORTED"
    assert any("Not shared" in trouble for trouble in found.troubles)


def test_a_shared_file_is_json_that_names_what_it_holds(machine, tmp_path):
    machine("one", "gap")
    (path,) = files(tmp_path / "shared")
    row = json.loads(path.read_text())
    assert (row[0], row[1], row[3]) == (path.name, "gap", "SUPPORTED")
    assert path.parent.name == path.name[:2]
