"""The log of attempts: numbers within a count, killed runs, older logs, several writers, damage."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace

import pytest

from theorax.decide.status import Status
from theorax.language import Absolute, Corrections, Measured, Rate, Size
from theorax.runs.attempt_log import FILE, LAYOUT, AttemptFile, fill
from theorax.runs.database import StoreError
from theorax.runs.store import Store
from theorax.verifiers.attempts import ClaimVersion
from theorax.verifiers.claim_versions import claim_version
from theorax.verifiers.settings import Settings

DATE = "2026-01-02T03:04:05Z"
VERSION = ClaimVersion("t", "c", "s", "d", form="f")


def attempt(log: AttemptFile, version: ClaimVersion, seed: int, status: Status = Status.INCONCLUSIVE):
    """One attempt from its beginning to its end."""
    entry = log.begin(version, seed, DATE)
    log.finish({version: status}, seed)
    return entry


def test_every_new_design_or_seed_is_the_next_attempt(tmp_path):
    log = AttemptFile(tmp_path)
    assert log.next_number(VERSION, 0) == 1
    others = (replace(VERSION, design="e"), replace(VERSION, statement="wider"), replace(VERSION, level=0.01))
    tries = [(VERSION, 5), (VERSION, 6), *((other, 5) for other in others)]
    assert [attempt(log, *one).number for one in tries] == [1, 2, 3, 4, 5]
    assert [attempt(log, *one).number for one in tries] == [1, 2, 3, 4, 5]
    assert log.next_number(VERSION, 6) == 2
    assert log.next_number(VERSION, 8) == 6
    assert attempt(log, VERSION, 8).entries == 6


@pytest.mark.parametrize("part", ["theorem", "claim", "model", "effort", "at", "form"])
def test_a_count_belongs_to_a_claim_model_effort_parameters_and_form(tmp_path, part):
    log = AttemptFile(tmp_path)
    attempt(log, VERSION, 0)
    assert attempt(log, replace(VERSION, **{part: "other"}), 0).number == 1


def test_earlier_forms_and_sources_are_told_with_what_came_of_them(tmp_path):
    first = AttemptFile(tmp_path, "one source")
    attempt(first, replace(VERSION, form="g"), 0, Status.REFUTED)
    attempt(first, VERSION, 0, Status.INCONCLUSIVE)
    attempt(first, VERSION, 1, Status.SUPPORTED)
    told = attempt(AttemptFile(tmp_path, "another source"), VERSION, 0)
    assert (told.number, told.entries, told.earlier, told.inconclusive, told.refuted) == (1, 4, 3, 1, 1)
    told = attempt(first, VERSION, 1)
    assert (told.number, told.earlier) == (2, 2)


KILLED = """
import os, sys
from pathlib import Path
from theorax.runs.attempt_log import AttemptFile
from theorax.verifiers.attempts import ClaimVersion
AttemptFile(Path(sys.argv[1])).begin(ClaimVersion("t", "c", "s", "d", form="f"), 0, "2026-01-02T03:04:05Z")
os.kill(os.getpid(), 9)
"""


def test_a_killed_run_spends_nothing_and_a_finished_one_stays(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM attempts").fetchone() == (1,)
    log = AttemptFile(tmp_path)
    told = attempt(log, VERSION, 1)
    assert (told.number, told.entries) == (1, 1)
    assert attempt(log, VERSION, 0).number == 2


def test_a_run_that_lives_keeps_its_number(tmp_path):
    log = AttemptFile(tmp_path)
    log.begin(VERSION, 0, DATE)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.execute("UPDATE attempts SET process = 1")  # of this machine, and it runs
    assert attempt(log, VERSION, 1).number == 2


WRITER = """
import sys
from pathlib import Path
from theorax.decide.status import Status
from theorax.runs.attempt_log import AttemptFile
from theorax.verifiers.attempts import ClaimVersion
log, version = AttemptFile(Path(sys.argv[1])), ClaimVersion("t", "c", "s", "d", form="f")
for seed in range(int(sys.argv[2]), int(sys.argv[2]) + 20):
    print(log.begin(version, seed, "2026-01-02T03:04:05Z").number)
    log.finish({version: Status.INCONCLUSIVE}, seed)
"""


def test_writers_side_by_side_have_numbers_of_their_own(tmp_path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(start)], stdout=subprocess.PIPE, text=True)
        for start in (0, 100)
    ]
    numbers = [int(line) for writer in writers for line in writer.communicate()[0].split()]
    assert sorted(numbers) == list(range(1, 41))


def test_what_an_older_version_logged_counts_for_every_form_and_effort(tmp_path):
    with closing(sqlite3.connect(Store(tmp_path).path)) as connection, connection:
        connection.execute(
            "CREATE TABLE attempts (theorem TEXT, claim TEXT, statement TEXT, design TEXT, seed INTEGER, number INTEGER, "
            "date TEXT)"
        )
        for number, design in enumerate(("a", "b", "c")):
            row = ("t", "c", "s", design, 0, 1, f"2025-01-0{number + 1}T00:00:00Z")
            connection.execute("INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    log = AttemptFile(tmp_path)
    assert log.next_number(VERSION, 0) == 4
    told = attempt(log, VERSION, 0)
    assert (told.number, told.entries, told.begun) == (4, 4, "2025-01-01T00:00:00Z")
    assert attempt(log, replace(VERSION, effort="quick"), 0).number == 4
    assert attempt(log, VERSION, 1).number == 5


def test_a_log_of_a_version_with_nights_is_read_and_written(tmp_path):
    assert attempt(AttemptFile(tmp_path), VERSION, 0).number == 1
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.execute("CREATE TABLE nights (theorem, claim, statement, design, night, p)")
        connection.execute("INSERT INTO nights VALUES ('t', 'c', 's', 'd', 1, '[0.5]')")
    assert attempt(AttemptFile(tmp_path), VERSION, 1).number == 2


def test_a_replay_elsewhere_fills_in_the_attempts_before(tmp_path):
    log = AttemptFile(tmp_path)
    fill(log, VERSION, 3, DATE)
    assert attempt(log, VERSION, 7).number == 3
    assert attempt(log, VERSION, 6).number == 4


def test_the_log_outlives_the_results(tmp_path):
    attempt(AttemptFile(tmp_path), VERSION, 0)
    store = Store(tmp_path)
    store.path.write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match="log of attempts is another file and stays") as told:
        store.statuses()
    assert str(store.path) in str(told.value)
    store.path.unlink()
    assert attempt(AttemptFile(tmp_path), VERSION, 1).number == 2


def test_a_damaged_log_is_told_with_what_its_deletion_loses(tmp_path):
    (tmp_path / FILE).write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match="the log of attempts is then lost"):
        AttemptFile(tmp_path).begin(VERSION, 0, DATE)


@pytest.mark.parametrize("file", ["attempts", "results"])
def test_a_newer_layout_is_refused_and_left_as_it_is(tmp_path, file):
    log, store = AttemptFile(tmp_path), Store(tmp_path)
    log.prepare()
    store.prepare()
    path = log.path if file == "attempts" else store.path
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"PRAGMA user_version = {LAYOUT + 99}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = path.read_bytes()
    for use in (
        (log.prepare, lambda: log.begin(VERSION, 0, DATE)) if file == "attempts" else (store.prepare, store.seconds)
    ):
        with pytest.raises(StoreError, match="newer version of theorax"):
            use()
    assert path.read_bytes() == before


def test_a_rate_keeps_its_attempts_though_fields_of_it_were_deleted():
    """The digests are those of the version that had the fields."""
    n, gap = Size("n", "width"), Measured("q", "a number")
    claim = Rate(gap, 1 / n, as_=n, approach=Corrections(), margin=Absolute(1, 10, "it matters"))
    version = claim_version("t", "c", claim, (), Settings())
    assert (version.statement, version.form) == ("0bf7c004d3457528", "476644d7e682a886")


@pytest.mark.parametrize("part", ["theorem", "claim", "model", "at", "form"])
def test_a_copy_of_the_program_under_another_name_continues_the_count(tmp_path, part):
    log, version = AttemptFile(tmp_path), replace(VERSION, program="p")
    attempt(log, version, 0)
    attempt(log, version, 1)
    copy = replace(version, **{part: "other"})
    assert log.next_number(copy, 0) == 3
    assert (attempt(log, copy, 0).number, attempt(log, copy, 0).number) == (3, 3)
    assert attempt(log, version, 1).number == 2
    assert attempt(log, version, 2).number == 4
    assert attempt(log, replace(copy, effort="thorough"), 0).number == 1
    assert attempt(log, replace(copy, program="q", theorem="u", claim="v"), 0).number == 1


def test_no_program_is_no_other_s_program(tmp_path):
    log = AttemptFile(tmp_path)
    attempt(log, VERSION, 0)
    assert attempt(log, replace(VERSION, theorem="other"), 0).number == 1


OF_LAYOUT_1 = """
CREATE TABLE log (begun TEXT NOT NULL);
INSERT INTO log VALUES ('2025-01-01T00:00:00Z');
CREATE TABLE attempts (
    theorem TEXT NOT NULL, claim TEXT NOT NULL, model TEXT NOT NULL, effort TEXT NOT NULL, at TEXT NOT NULL,
    form TEXT NOT NULL, design TEXT NOT NULL, seed INTEGER NOT NULL, source TEXT NOT NULL, number INTEGER NOT NULL,
    date TEXT NOT NULL, status TEXT NOT NULL, host TEXT NOT NULL, process INTEGER NOT NULL,
    PRIMARY KEY (theorem, claim, model, effort, at, form, design, seed, source)
);
INSERT INTO attempts VALUES ('t', 'c', '', '', '', 'f', 's d 0.025', 7, 'src', 1, '2025-01-01T00:00:00Z', 'REFUTED', '', 0);
PRAGMA user_version = 1
"""


def test_a_log_of_an_earlier_layout_counts_on_by_names_and_by_the_program_of_the_same_sources(tmp_path):
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(OF_LAYOUT_1)
    log = AttemptFile(tmp_path, "src")
    version = replace(VERSION, program="p")
    told = attempt(log, version, 7)
    assert (told.number, told.begun) == (1, "2025-01-01T00:00:00Z")
    assert attempt(log, version, 8).number == 2
    copy = replace(version, theorem="copy")
    assert attempt(log, copy, 7).number == 3
