"""One SQLite file of the state folder: laid out once, one transaction at a time, and a sentence where it fails."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from theorax.errors import UsageError, option

_STATE = option("state")
PATIENCE = 10.0  # seconds to wait for another run that is writing

Value = TypeVar("Value")


class StoreError(UsageError):
    """A file of the state folder cannot be read or written; the message says what to do."""


@dataclass(frozen=True)
class Database:
    """An SQLite file in write-ahead mode: a run ended at any instant loses no finished transaction and leaves no half one.

    ``layout`` is raised when the tables change; a file of a newer one is refused and left as it is. ``loss``: what is
    lost with the file, told to a user who is advised to delete it. ``begin`` fills the tables when they are made.
    """

    path: Path
    tables: str
    layout: int
    content: str
    loss: str
    begin: Callable[[sqlite3.Connection], None] = lambda connection: None

    def read(self, query: str, values: tuple[object, ...]) -> list[tuple]:
        """The rows of a query; none where there is no file.

        **Raises:** StoreError if the file cannot be read.
        """
        if not self.path.exists():
            return []
        return self.connected(lambda connection: connection.execute(query, values).fetchall(), writes=False)

    def connected(self, work: Callable[[sqlite3.Connection], Value], *, writes: bool = True) -> Value:
        """The value of ``work``, all of which is one transaction.

        **Raises:** StoreError if the file cannot be read or written.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            ignore = self.path.parent / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
            with closing(sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)) as connection:
                # A damaged text is a text that fails its seal, not an error of the whole file.
                connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
                connection.execute("PRAGMA journal_mode = WAL")
                older = _layout(connection) < self.layout
                # A writer that first reads would lose what another wrote between: it holds the file from the start.
                connection.execute("BEGIN IMMEDIATE" if writes or older else "BEGIN")
                try:
                    self._lay_out(connection)
                    found = work(connection)
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
                return found
        except sqlite3.OperationalError as error:
            raise StoreError(self.unusable(str(error))) from None
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # the second: a damaged schema in an error's text
            raise StoreError(self.corrupt(error)) from None
        except OSError as error:
            raise StoreError(self.unusable(error.strerror or str(error))) from None

    def _lay_out(self, connection: sqlite3.Connection) -> None:
        kept = _layout(connection)
        if kept > self.layout:
            raise StoreError(
                f"{self.path} was written by a newer version of theorax: its layout is {kept}, this version knows "
                f"{self.layout}. Nothing in it was changed. Use that version, or give `{_STATE}` another folder."
            )
        if kept < self.layout:
            for statement in self.tables.split(";"):
                connection.execute(statement)
            self.begin(connection)
            connection.execute(f"PRAGMA user_version = {self.layout}")

    def unusable(self, why: str) -> str:
        """The sentence for a file that cannot be used now."""
        if "locked" in why or "busy" in why:
            return f"Another run is writing to {self.path}. Wait for it to finish, or give `{_STATE}` another folder."
        if "full" in why or "No space" in why:
            return (
                f"The disk is full: {self.path} cannot be written. Make room, or give `{_STATE}` another disk's folder."
            )
        if "malformed" in why:
            return self.corrupt(why)
        return f"{self.content} cannot be kept in {self.path}: {why}. Give `{_STATE}` a folder that can be written."

    def corrupt(self, why: object) -> str:
        """The sentence for a file that is damaged."""
        return f"{self.path} is not readable ({why}). Give `{_STATE}` another folder, or delete that file; {self.loss}."


def _layout(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
