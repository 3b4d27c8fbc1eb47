"""Planted falsehoods: none is greener than its word. Each is written from a class of faults, not from one example.

``planted/table.csv`` names the files. Rows of the class ``unseen`` cannot be seen from inside: they may be green, and the
report must say what was not looked at.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tabled import Row, missed, rows

from theorax.decide.status import Status

FOLDER = Path(__file__).parent / "planted"
ROWS = rows(FOLDER)
GREEN = {status.value for status in Status if status.holds}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_falsehood_is_greener_than_its_word(row: Row, tmp_path: Path) -> None:
    assert missed(FOLDER, row, tmp_path) == []


def test_only_what_cannot_be_seen_may_be_green() -> None:
    for row in ROWS:
        if row.of == "unseen":
            assert row.told, row.name
        else:
            assert not GREEN & set(row.word.split("|")), row.name
    assert len({row.name for row in ROWS}) == len(ROWS)
