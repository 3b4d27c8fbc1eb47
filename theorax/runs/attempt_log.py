"""The log of attempts: one SQLite file of its own, which outlives the results and every change of them.

A row names its claim, and the digest of the program that the claim measures: a copy of the theorem continues the count.
A row is written before data are drawn and gets its status when the check ends. A row without one whose process is gone
was killed before anybody saw a result, and is forgotten. What an older version logged in the store of results is taken
over when the file is made; nobody can tell the efforts and forms of those rows, so each counts for all of them.
"""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from theorax.decide.status import Status
from theorax.decide.verdict import LoggedAttempt
from theorax.runs.database import Database

if TYPE_CHECKING:  # the log is opened where nothing is computed, and that module knows all kinds of claims
    from theorax.verifiers.attempts import ClaimVersion

FILE = "attempts.sqlite"
LAYOUT = 2  # 2: the digest of the program
_EARLIER_FILE = "results.sqlite"  # in which older versions logged attempts
_UNKNOWN = "?"  # the status, effort and form of a row of which an older version did not say them
_UNDER_WAY = ""

_TABLES = """
CREATE TABLE IF NOT EXISTS log (begun TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS attempts (
    theorem TEXT NOT NULL, claim TEXT NOT NULL, model TEXT NOT NULL, effort TEXT NOT NULL, at TEXT NOT NULL,
    form TEXT NOT NULL, design TEXT NOT NULL, seed INTEGER NOT NULL, source TEXT NOT NULL, number INTEGER NOT NULL,
    date TEXT NOT NULL, status TEXT NOT NULL, host TEXT NOT NULL, process INTEGER NOT NULL,
    program TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (theorem, claim, model, effort, at, form, design, seed, source)
)
"""
_WIDER = "ALTER TABLE attempts ADD COLUMN program TEXT NOT NULL DEFAULT ''"
_SAME_PROGRAM = "program = ? AND program != '' AND effort = ?"
_CLAIM = "theorem = ? AND claim = ?"
_COUNT = f"{_CLAIM} AND model = ? AND effort = ? AND at = ? AND form = ?"
_TUPLE = f"{_COUNT} AND design = ? AND seed = ?"


@dataclass(frozen=True)
class AttemptFile:
    """The log kept in the folder ``state``; ``source``: the digest of the files that say what is drawn."""

    state: Path
    source: str = ""

    @property
    def path(self) -> Path:
        """The file of the log."""
        return self.state / FILE

    @property
    def _database(self) -> Database:
        return Database(
            self.path,
            _TABLES,
            LAYOUT,
            content="The log of attempts",
            loss="the log of attempts is then lost: every claim is told to be at its first attempt again",
            begin=self._begun,
        )

    def begin(self, version: ClaimVersion, seed: int, date: str) -> LoggedAttempt:
        """Log that data of this seed are about to be drawn for the claim.

        A design and seed that were logged before keep their number. Several runs may log at once.

        **Raises:** StoreError if the log cannot be written.
        """

        def write(connection: sqlite3.Connection) -> LoggedAttempt:
            _forget_killed(connection, version)
            # An older version logged no program; of the same sources it is the same.
            connection.execute(
                f"UPDATE attempts SET program = ? WHERE {_COUNT} AND source = ? AND program = ''",
                (version.program, *_count(version), self.source),
            )
            number = _number(connection, version, seed)
            row = (
                *_count(version),
                version.tuple,
                seed,
                self.source,
                number,
                date,
                _UNDER_WAY,
                *_here(),
                version.program,
            )
            connection.execute(f"INSERT OR IGNORE INTO attempts VALUES ({', '.join('?' * len(row))})", row)
            return self._entry(connection, version, number)

        return self._database.connected(write)

    def finish(self, statuses: Mapping[ClaimVersion, Status], seed: int) -> None:
        """Log what came of these attempts: from now on they are spent, whatever ends the process.

        **Raises:** StoreError if the log cannot be written.
        """

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(
                f"UPDATE attempts SET status = ? WHERE {_TUPLE} AND source = ?",
                [
                    (status.value, *_count(version), version.tuple, seed, self.source)
                    for version, status in statuses.items()
                ],
            )

        self._database.connected(write)

    def next_number(self, version: ClaimVersion, seed: int) -> int:
        """The number that an attempt with this seed would have; nothing is logged.

        **Raises:** StoreError if the log cannot be read.
        """
        if not self.path.exists() and not (self.state / _EARLIER_FILE).exists():
            return 1
        return self._database.connected(lambda connection: _number(connection, version, seed), writes=False)

    def prepare(self) -> None:
        """Make sure that attempts can be logged, before any are made.

        **Raises:** StoreError if not.
        """
        self._database.connected(lambda connection: None)

    def _entry(self, connection: sqlite3.Connection, version: ClaimVersion, number: int) -> LoggedAttempt:
        claim = (version.theorem, version.claim)
        (begun,) = connection.execute("SELECT MIN(begun) FROM log").fetchone()
        (entries,) = connection.execute(
            f"SELECT COUNT(*) FROM attempts WHERE ({_CLAIM}) OR ({_SAME_PROGRAM})", (*claim, *_program(version))
        ).fetchone()
        others = connection.execute(
            f"SELECT status FROM attempts WHERE {_CLAIM} AND model = ? AND at = ? AND status NOT IN (?, ?) "
            "AND (form != ? OR source != ?)",
            (*claim, version.model, version.at, _UNDER_WAY, _UNKNOWN, version.form, self.source),
        ).fetchall()
        found = [status for (status,) in others]
        return LoggedAttempt(
            number=number,
            begun=begun,
            entries=entries,
            earlier=len(found),
            inconclusive=found.count(Status.INCONCLUSIVE.value),
            refuted=found.count(Status.REFUTED.value),
        )

    def _begun(self, connection: sqlite3.Connection) -> None:
        """Begin the log with what an older version logged among the results, or with the present moment.

        A log of an older version gets the column that it lacks; its rows count by their names alone.
        """
        from theorax.runs.store import now

        if "program" not in {name for _, name, *_ in connection.execute("PRAGMA table_info(attempts)")}:
            connection.execute(_WIDER)
            return
        rows = _of_older_version(self.state / _EARLIER_FILE)
        begun = min((date for *_, date in rows), default=now())
        connection.execute("INSERT INTO log VALUES (?)", (begun,))
        numbers: dict[tuple[str, str], int] = {}
        for theorem, claim, statement, design, seed, date in rows:
            number = numbers[theorem, claim] = numbers.get((theorem, claim), 0) + 1
            taken = (theorem, claim, *(_UNKNOWN,) * 4, f"{statement} {design}", seed, _UNKNOWN, number, date, _UNKNOWN)
            connection.execute("INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0, '')", taken)


def fill(log: AttemptFile, version: ClaimVersion, number: int, date: str) -> None:
    """Log the attempts before this number; what was drawn in them, and what came of it, is not known."""

    def write(connection: sqlite3.Connection) -> None:
        for earlier in range(1, number):
            design = f"{_UNKNOWN} {earlier}"  # of no seed: whatever is drawn here is another attempt
            row = (*_count(version), design, 0, log.source, earlier, date, _UNKNOWN, "", 0, version.program)
            connection.execute(f"INSERT OR IGNORE INTO attempts VALUES ({', '.join('?' * len(row))})", row)

    log._database.connected(write)


def _count(version: ClaimVersion) -> tuple[str, ...]:
    return (version.theorem, version.claim, version.model, version.effort, version.at, version.form)


def _program(version: ClaimVersion) -> tuple[str, str]:
    return version.program, version.effort


def _number(connection: sqlite3.Connection, version: ClaimVersion, seed: int) -> int:
    query = f"SELECT number FROM attempts WHERE {_TUPLE}"
    same = connection.execute(query, (*_count(version), version.tuple, seed)).fetchone()
    if same:
        return int(same[0])
    (largest,) = connection.execute(
        f"SELECT COALESCE(MAX(number), 0) FROM attempts WHERE ({_COUNT}) OR ({_CLAIM} AND form = ?) OR ({_SAME_PROGRAM})",
        (*_count(version), version.theorem, version.claim, _UNKNOWN, *_program(version)),
    ).fetchone()
    return 1 + int(largest)


def _here() -> tuple[str, int]:
    return platform.node(), os.getpid()


def _forget_killed(connection: sqlite3.Connection, version: ClaimVersion) -> None:
    """Forget the attempts of this count that were cut off; on another machine nobody can tell, so they stay."""
    host, own = _here()
    ours, values = f"(({_COUNT}) OR ({_SAME_PROGRAM}))", (*_count(version), *_program(version))
    query = f"SELECT DISTINCT process FROM attempts WHERE {ours} AND status = ? AND host = ?"
    for (process,) in connection.execute(query, (*values, _UNDER_WAY, host)).fetchall():
        # A process checks a claim once at a time: an earlier attempt of this one that never ended was interrupted.
        if process == own or not _is_alive(process):
            connection.execute(
                f"DELETE FROM attempts WHERE {ours} AND status = ? AND host = ? AND process = ?",
                (*values, _UNDER_WAY, host, process),
            )


def _is_alive(process: int) -> bool:
    if os.name != "posix":  # there is no signal that only asks
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _of_older_version(path: Path) -> list[tuple]:
    """Attempts, oldest first, in the store of an older version; none where it has no readable table."""
    if not path.is_file():
        return []
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            attempts = "SELECT theorem, claim, statement, design, seed, date FROM attempts ORDER BY date, number"
            return connection.execute(attempts).fetchall()
    except sqlite3.Error:  # damaged, or of a version that has no such table: what it held cannot be known
        return []
