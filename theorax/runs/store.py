"""The store: one SQLite file, one transaction per finished check; results, the log of attempts, the nights.

A result is kept under the digest of everything that determines it (:mod:`theorax.runs.sources`), so a kept result
is found exactly when checking again would compute the same. An ERROR is kept to be told, never to be used again. The
file is in write-ahead mode: a run killed at any instant loses no finished check and leaves no broken one, and several
runs may share it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from theorax.errors import UsageError, option
from theorax.runs.sources import Manifest, key
from theorax.text.codec import built, plain
from theorax.verifiers.outcome import TheoremOutcome

if TYPE_CHECKING:  # the store is opened where nothing is computed, and that module knows all kinds of claims
    from theorax.verifiers.attempts import ClaimVersion

_STATE = option("state")

FILE = "results.sqlite"
LAYOUT = 8  # raised when the tables, a key or the outcome's fields change; older results are then checked again
KEPT_PER_THEOREM = 24
PATIENCE = 10.0  # seconds to wait for another run that is writing

_TABLES = """
CREATE TABLE IF NOT EXISTS results (
    key TEXT PRIMARY KEY, theorem TEXT NOT NULL, layout INTEGER NOT NULL, status TEXT NOT NULL, date TEXT NOT NULL,
    seconds REAL NOT NULL, variant INTEGER NOT NULL, manifest TEXT NOT NULL, outcome TEXT NOT NULL, observations BLOB
);
CREATE INDEX IF NOT EXISTS by_theorem ON results (theorem, date);
CREATE TABLE IF NOT EXISTS attempts (
    theorem TEXT NOT NULL, claim TEXT NOT NULL, statement TEXT NOT NULL, design TEXT NOT NULL, seed INTEGER NOT NULL,
    number INTEGER NOT NULL, date TEXT NOT NULL, PRIMARY KEY (theorem, claim, statement, design, seed)
);
CREATE TABLE IF NOT EXISTS nights (
    theorem TEXT NOT NULL, claim TEXT NOT NULL, statement TEXT NOT NULL, design TEXT NOT NULL, night INTEGER NOT NULL,
    p TEXT NOT NULL, PRIMARY KEY (theorem, claim, statement, design, night)
);
"""

_OF_VERSION = "theorem = ? AND claim = ? AND statement = ? AND design = ?"
Value = TypeVar("Value")


class StoreError(UsageError):
    """The store cannot be read or written; the message says what to do."""


@dataclass(frozen=True)
class KeptResult:
    """A result from an earlier run."""

    outcome: TheoremOutcome
    date: str
    seconds: float


@dataclass(frozen=True)
class LastResult:
    """Manifest of the last kept result of a theorem; ``usable``: it was kept in the present layout."""

    manifest: Manifest
    date: str
    usable: bool


@dataclass(frozen=True)
class Store:
    """The results kept in the folder ``state``; nothing is written before the first result."""

    state: Path

    @property
    def path(self) -> Path:
        """The file of the store."""
        return self.state / FILE

    def get(self, manifest: Manifest) -> KeptResult | None:
        """The kept result of exactly this check, if there is one.

        **Raises:** StoreError if the store cannot be read.
        """
        row = self._read(
            "SELECT outcome, date, seconds FROM results WHERE key = ? AND layout = ? AND status != 'ERROR'",
            (key(manifest), LAYOUT),
        )
        if not row:
            return None
        try:
            return KeptResult(built(TheoremOutcome, json.loads(row[0][0])), row[0][1], row[0][2])
        except ValueError as error:
            raise StoreError(self._corrupt(error)) from None

    def put(self, manifest: Manifest, outcome: TheoremOutcome, date: str, observations: bytes | None = None) -> None:
        """Keep a result, in one transaction.

        **Raises:** StoreError if the store cannot be written.
        """

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    key(manifest),
                    outcome.id,
                    LAYOUT,
                    outcome.status,
                    date,
                    outcome.work.seconds,
                    is_variant(manifest),
                    json.dumps(dict(manifest)),
                    json.dumps(plain(outcome, exact=True)),
                    observations,
                ),
            )
            connection.execute(
                "DELETE FROM results WHERE theorem = ?1 AND key NOT IN "
                "(SELECT key FROM results WHERE theorem = ?1 ORDER BY date DESC LIMIT ?2)",
                (outcome.id, KEPT_PER_THEOREM),
            )

        self._connected(write)

    def observations(self, manifest: Manifest) -> bytes | None:
        """The observations kept with a result, as the bytes that were given."""
        row = self._read("SELECT observations FROM results WHERE key = ?", (key(manifest),))
        return row[0][0] if row else None

    def attempt(self, version: ClaimVersion, seed: int, date: str) -> int:
        """Log that data of this seed are drawn for the claim, and the number of the attempt: the first has number 1.

        A seed that was logged before keeps its number. Several runs may log at once.

        **Raises:** StoreError if the store cannot be written.
        """
        key = (version.theorem, version.claim, version.statement, version.design)

        def write(connection: sqlite3.Connection) -> int:
            connection.execute(
                "INSERT OR IGNORE INTO attempts SELECT ?1, ?2, ?3, ?4, ?5, 1 + COALESCE(MAX(number), 0), ?6 "
                "FROM attempts WHERE theorem = ?1 AND claim = ?2 AND statement = ?3 AND design = ?4",
                (*key, seed, date),
            )
            query = f"SELECT number FROM attempts WHERE {_OF_VERSION} AND seed = ?"
            return int(connection.execute(query, (*key, seed)).fetchone()[0])

        return self._connected(write)

    def next_attempt(self, version: ClaimVersion, seed: int) -> int:
        """The number that an attempt with this seed would have; nothing is logged."""
        key = (version.theorem, version.claim, version.statement, version.design)
        same = self._read(f"SELECT number FROM attempts WHERE {_OF_VERSION} AND seed = ?", (*key, seed))
        if same:
            return int(same[0][0])
        rows = self._read(f"SELECT COALESCE(MAX(number), 0) FROM attempts WHERE {_OF_VERSION}", key)
        return 1 + int(rows[0][0]) if rows else 1

    def nights(self, version: ClaimVersion, night: int, p: Sequence[float]) -> list[list[float]]:
        """Keep this night's p-values of the claim, and return those of all nights up to it, in their order.

        **Raises:** StoreError if the store cannot be written.
        """
        key = (version.theorem, version.claim, version.statement, version.design)

        def write(connection: sqlite3.Connection) -> list[list[float]]:
            row = (*key, night, json.dumps(list(p)))
            connection.execute("INSERT OR REPLACE INTO nights VALUES (?, ?, ?, ?, ?, ?)", row)
            query = f"SELECT p FROM nights WHERE {_OF_VERSION} AND night <= ? ORDER BY night"
            return [json.loads(kept) for (kept,) in connection.execute(query, (*key, night))]

        return self._connected(write)

    def statuses(self) -> Mapping[str, tuple[str, str]]:
        """The last status of every theorem at its own parameters and model, with its date."""
        rows = self._read("SELECT theorem, status, date FROM results WHERE variant = 0 ORDER BY date", ())
        return {theorem: (status, date) for theorem, status, date in rows}

    def seconds(self) -> Mapping[str, float]:
        """Seconds that the last check of every theorem took."""
        return dict(self._read("SELECT theorem, seconds FROM results ORDER BY date", ()))

    def last_manifest(self, id: str) -> LastResult | None:
        """Manifest of the last kept result of a theorem, and its date."""
        kept = "FROM results WHERE theorem = ? AND status != 'ERROR' ORDER BY date DESC LIMIT 1"
        rows = self._read(f"SELECT manifest, date, layout {kept}", (id,))
        return LastResult(json.loads(rows[0][0]), rows[0][1], rows[0][2] == LAYOUT) if rows else None

    def prepare(self) -> None:
        """Make sure that results can be kept, before any are computed.

        **Raises:** StoreError if not.
        """
        self._connected(lambda connection: connection.execute("DELETE FROM results WHERE layout < ?", (LAYOUT,)))

    def _read(self, query: str, values: tuple[object, ...]) -> list[tuple]:
        if not self.path.exists():
            return []
        return self._connected(lambda connection: connection.execute(query, values).fetchall())

    def _connected(self, work: Callable[[sqlite3.Connection], Value]) -> Value:
        try:
            self.state.mkdir(parents=True, exist_ok=True)
            ignore = self.state / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
            with closing(sqlite3.connect(self.path, timeout=PATIENCE)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(_TABLES)
                with connection:
                    return work(connection)
        except sqlite3.OperationalError as error:
            raise StoreError(self._unusable(str(error))) from None
        except sqlite3.DatabaseError as error:
            raise StoreError(self._corrupt(error)) from None
        except OSError as error:
            raise StoreError(self._unusable(error.strerror or str(error))) from None

    def _unusable(self, why: str) -> str:
        if "locked" in why or "busy" in why:
            return f"Another run is writing to {self.path}. Wait for it to finish, or give `{_STATE}` another folder."
        if "full" in why or "No space" in why:
            return (
                f"The disk is full: {self.path} cannot be written. Make room, or give `{_STATE}` another disk's folder."
            )
        if "malformed" in why:
            return self._corrupt(why)
        return f"Results cannot be kept in {self.path}: {why}. Give `{_STATE}` a folder that can be written."

    def _corrupt(self, why: object) -> str:
        return (
            f"{self.path} is no readable store of results ({why}). Delete that file, or give `{_STATE}` another folder; "
            "the theorems are then checked again."
        )


def is_variant(manifest: Manifest) -> bool:
    """True if a result was found at other parameters, other sizes or another model than the theorem's own."""
    own = {"setting at": "()", "setting sizes": "()", "setting model": "None", "setting nightly": "False"}
    return any(manifest.get(name, value) != value for name, value in own.items())


def now() -> str:
    """The present moment, as it is kept: UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
