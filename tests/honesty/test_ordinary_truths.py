"""Ordinary true statements, as a beginner writes them from the documentation: most are green as they stand.

``ordinary/table.csv`` has the word of each statement as it was first written (``first``) and, where that is not green, of
the statement with the change that the first message names (``second``). No margin of a statement was widened.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import pytest

from theorax.decide.status import Status
from theorax.errors import StatementError
from theorax.runs.checking import check
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.settings import Settings

FOLDER = Path(__file__).parent / "ordinary"
GREEN = {status.value for status in Status if status.holds}
FIRST, SECOND = 0.8, 0.95


@dataclass(frozen=True)
class Statement:
    """One statement, and its words at the first and the second try."""

    name: str
    first: str
    second: str

    @property
    def last(self) -> str:
        """The word of the last try."""
        return self.second or self.first


with (FOLDER / "table.csv").open(encoding="utf-8", newline="") as file:
    STATEMENTS = [Statement(**row) for row in csv.DictReader(file)]


def word(folder: Path, name: str, state: Path) -> str:
    """The word on the one claim of a file."""
    settings = Settings(roots=Catalogue.of((folder.resolve(),)).elsewhere, state=str(state), effort="quick", fresh=True)
    try:
        (claim,) = check(name, settings).claims
    except StatementError:
        return "StatementError"
    return str(claim.status)


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.name)
def test_an_ordinary_statement_gets_its_word(statement: Statement, tmp_path: Path) -> None:
    assert word(FOLDER / "first", statement.name, tmp_path / "first") == statement.first
    if statement.second:
        assert word(FOLDER / "second", statement.name, tmp_path / "second") == statement.second


def test_most_are_green_at_the_first_try_and_nearly_all_at_the_second() -> None:
    """Counted in the table, whose words the test above holds."""
    assert sorted(file.stem for file in (FOLDER / "first").glob("*.py")) == [part.name for part in STATEMENTS]
    green = [statement.first in GREEN for statement in STATEMENTS]
    last = [statement.last in GREEN for statement in STATEMENTS]
    print(f"{sum(green)} of {len(green)} green at the first try, {sum(last)} at the second")
    assert sum(green) >= FIRST * len(green)
    assert sum(last) >= SECOND * len(last)
    assert not any("REFUTED" in (statement.first, statement.second) for statement in STATEMENTS)
