"""The store of results: one SQLite file, one transaction per finished check.

A result is kept under the digest of everything that determines it (:mod:`theorax.runs.sources`), so a kept result
is found exactly when checking again would compute the same. An ERROR is kept to be told, never to be used again.
Several runs may share the file. The log of attempts is another one (:mod:`theorax.runs.attempt_log`).
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from theorax.runs import seals
from theorax.runs.database import Database, StoreError
from theorax.runs.manifests import EntrySort, Manifest, key, observed_entries
from theorax.runs.seals import HEAD, SealedHead, SealedRow
from theorax.text.codec import built, completed, json_values
from theorax.verifiers.outcome import TheoremOutcome

__all__ = [
    "FILE",
    "KEPT_PER_THEOREM",
    "LAYOUT",
    "KeptResult",
    "LastResult",
    "Store",
    "StoreError",
    "is_variant",
    "now",
    "statuses",
]

FILE = "results.sqlite"
LAYOUT = 11  # raised when the tables, a key or the outcome's fields change; older results are then checked again
KEPT_PER_THEOREM = 24
Present = Callable[[Manifest], Manifest]
_ID = re.compile(r'"id": "(\w+)"')

_TABLES = """
CREATE TABLE IF NOT EXISTS sealed_results (
    key TEXT PRIMARY KEY, theorem TEXT NOT NULL, layout INTEGER NOT NULL, status TEXT NOT NULL, date TEXT NOT NULL,
    seconds REAL NOT NULL, variant INTEGER NOT NULL, digests TEXT NOT NULL, seal TEXT NOT NULL,
    manifest TEXT NOT NULL, outcome TEXT NOT NULL, observations BLOB
);
CREATE INDEX IF NOT EXISTS by_theorem_and_date ON sealed_results (theorem, date)
"""


class DamagedResult(StoreError):
    """A kept result is not what was kept; it has been dropped, and everything else is still usable."""


@dataclass(frozen=True)
class KeptResult:
    """A result from an earlier run; ``manifest`` also names what that run was seen to read."""

    outcome: TheoremOutcome
    date: str
    seconds: float
    manifest: Manifest = field(default_factory=dict)


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

    def get(self, manifest: Manifest, present: Present = lambda kept: {}) -> KeptResult | None:
        """The kept result of exactly this check, if there is one and what it read is as it was.

        ``present``: for the manifest of a kept result, what its observed entries say now.

        **Raises:** DamagedResult if there was one and it was altered since, StoreError if the store cannot be read.
        """
        row = self._row(key(manifest))
        if row is None or row.status == "ERROR":
            return None
        try:
            kept = opened(row)
        except ValueError as error:
            raise self._dropped(row.key, row.theorem, str(error)) from None
        return kept if observed_entries(kept.manifest) == present(kept.manifest) else None

    def put(self, manifest: Manifest, outcome: TheoremOutcome, date: str, observations: bytes | None = None) -> None:
        """Keep a result, in one transaction.

        **Raises:** StoreError if the store cannot be written.
        """
        row = sealed_row(key(manifest), manifest, outcome, date, observations)

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO sealed_results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )
            connection.execute(
                "DELETE FROM sealed_results WHERE theorem = ?1 AND key NOT IN "
                "(SELECT key FROM sealed_results WHERE theorem = ?1 ORDER BY date DESC LIMIT ?2)",
                (outcome.id, KEPT_PER_THEOREM),
            )

        self._database.connected(write)

    def observations(self, manifest: Manifest) -> bytes | None:
        """The observations kept with a result, as the bytes that were given.

        **Raises:** as `get` does.
        """
        row = self._row(key(manifest))
        return row.observations if row is not None else None

    def statuses(self) -> Mapping[str, tuple[str, str]]:
        """The last status of every theorem at its own parameters and model, with its date.

        A theorem with an altered row has none: that row may be the last, and an earlier one may say otherwise.
        """
        unsure = self._altered()
        found = (head for head in self._heads() if not head.variant and head.theorem not in unsure)
        return {head.theorem: (head.status, head.date) for head in found}

    def outcomes(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The JSON values of the last whole outcome of every theorem at its own parameters and model."""
        heads = {head.theorem: head for head in self._heads() if not head.variant}
        for id, head in heads.items():
            for (told,) in self._read("SELECT outcome FROM sealed_results WHERE key = ?", (head.key,)):
                if seals.is_intact({"outcome": told}, head.digests):
                    yield id, json.loads(told)

    def damaged(self) -> int:
        """Number of kept results that were altered: by their heads, and of the last of every theorem by its outcome."""
        query = f"SELECT {HEAD}, seal FROM sealed_results"
        heads = sum(not seals.has_valid_seal(row) for row in self._read(query, ()))
        last = {head.theorem: head for head in self._heads() if not head.variant}
        told = (
            (head, outcome)
            for head in last.values()
            for (outcome,) in self._read("SELECT outcome FROM sealed_results WHERE key = ?", (head.key,))
        )
        return heads + sum(not seals.is_intact({"outcome": outcome}, head.digests) for head, outcome in told)

    def within_margin(self) -> frozenset[str]:
        """The theorems of which a claim lies off its value and inside its margin, by their last kept results."""
        told = self.outcomes()
        return frozenset(id for id, kept in told if any(claim.get("within_margin") for claim in kept["claims"]))

    def seconds(self) -> Mapping[str, float]:
        """Seconds that the last check of every theorem took."""
        return {head.theorem: head.seconds for head in self._heads()}

    def last_manifest(self, id: str) -> LastResult | None:
        """Manifest of the last kept result of a theorem, and its date."""
        for head in reversed(self._heads()):
            if head.theorem == id and head.status != "ERROR":
                ((manifest,),) = self._read("SELECT manifest FROM sealed_results WHERE key = ?", (head.key,))
                if seals.is_intact({"manifest": manifest}, head.digests):
                    return LastResult(json.loads(manifest), head.date, head.layout == LAYOUT)
        return None

    def _altered(self) -> frozenset[str]:
        """The theorems whose rows were altered, by either place that names them: chance alters one of the two."""
        names = set()
        for *row, outcome in self._read(f"SELECT {HEAD}, seal, outcome FROM sealed_results", ()):
            if not seals.has_valid_seal(row):
                names |= {str(row[1]), *_ID.findall(str(outcome))[:1]}
        return frozenset(names)

    def _heads(self) -> list[SealedHead]:
        """The heads of all rows that are as they were kept, the newest last."""
        rows = [
            SealedHead(*row[:-1])
            for row in self._read(f"SELECT {HEAD}, seal FROM sealed_results", ())
            if seals.has_valid_seal(row)
        ]
        return sorted(rows, key=lambda head: head.date)

    def _row(self, key: str) -> SealedRow | None:
        """The row under this key, in the present layout.

        **Raises:** DamagedResult if it is not as it was kept.
        """
        found = self._read(
            f"SELECT {HEAD}, seal, manifest, outcome, observations FROM sealed_results WHERE key = ?", (key,)
        )
        if not found:
            return None
        head = found[0][: len(fields(SealedHead))]
        if head[2] != LAYOUT and seals.has_valid_seal(found[0][: len(head) + 1]):
            return None
        row = seals.whole_row(found[0], key)
        if row is None:
            raise self._dropped(key, str(head[1]), "it is not what was kept")
        return row

    def _dropped(self, key: str, theorem: str, why: str) -> DamagedResult:
        """Drop the row under this key, and say so."""
        self._database.connected(
            lambda connection: connection.execute("DELETE FROM sealed_results WHERE key = ?", (key,))
        )
        return DamagedResult(
            f"A result kept in {self.path} ({theorem}) was altered or damaged there: {why}. It was dropped."
        )

    def prepare(self) -> None:
        """Make sure that results can be kept, before any are computed.

        **Raises:** StoreError if not.
        """

        def clear(connection: sqlite3.Connection) -> None:
            connection.execute("DROP TABLE IF EXISTS results")  # rows without a seal, of earlier layouts
            connection.execute("DELETE FROM sealed_results WHERE layout < ?", (LAYOUT,))

        self._database.connected(clear)

    @property
    def _database(self) -> Database:
        return Database(
            self.path,
            _TABLES,
            LAYOUT,
            content="Results",
            loss="the theorems are then checked again. The log of attempts is another file and stays",
        )

    def _read(self, query: str, values: tuple[object, ...]) -> list[tuple]:
        return self._database.read(query, values)


def sealed_row(
    key: str, manifest: Manifest, outcome: TheoremOutcome, date: str, observations: bytes | None = None
) -> tuple[object, ...]:
    """The row of a result, with its seal, as the file of results holds it."""
    seconds, variant = float(outcome.work.seconds), int(is_variant(manifest))
    head = (key, outcome.id, LAYOUT, str(outcome.status), date, seconds, variant)
    told = json.dumps(dict(manifest)), json.dumps(json_values(outcome, exact=True)), observations
    digests = seals.digests(dict(zip(seals.PARTS, told, strict=True)))
    return (*head, digests, seals.seal(head, digests), *told)


def opened(row: SealedRow) -> KeptResult:
    """The result of a row.

    **Raises:** ValueError if another version of theorax sealed it.
    """
    outcome = built(TheoremOutcome, completed(TheoremOutcome, json.loads(row.outcome)))
    return KeptResult(outcome, row.date, row.seconds, json.loads(row.manifest))


def is_variant(manifest: Manifest) -> bool:
    """True if a result was found at other parameters, other sizes or another model than the theorem's own."""
    own = {"at": "()", "sizes": "()", "model": "None"}
    return any(manifest.get(EntrySort.SETTING.entry(name), value) != value for name, value in own.items())


def now() -> str:
    """The present moment, as it is kept: UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def within_margin(state: Path) -> frozenset[str]:
    """The theorems that the store in ``state`` knows to lie inside their margin, and not to be exactly as claimed.

    **Raises:** StoreError if it cannot be read.
    """
    return Store(state).within_margin()


def statuses(state: Path) -> dict[str, str]:
    """The last status of every theorem that the store in ``state`` knows.

    **Raises:** StoreError if it cannot be read.
    """
    return {id: status for id, (status, _) in Store(state).statuses().items()}
