"""True statements that are hard to decide keep their words: a guard that takes one away is too coarse."""

from __future__ import annotations

from pathlib import Path

import pytest
from tabled import Row, missed, rows

FOLDER = Path(__file__).parent / "hard"
ROWS = rows(FOLDER)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_true_statement_keeps_its_word(row: Row, tmp_path: Path) -> None:
    assert missed(FOLDER, row, tmp_path) == []
