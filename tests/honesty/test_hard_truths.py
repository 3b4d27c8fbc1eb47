"""True statements that are hard to decide keep their words: a guard that takes one away is too coarse."""

from __future__ import annotations

from pathlib import Path

import pytest
from shares import of_this_day
from tabled import Row, missed, rows

FOLDER = Path(__file__).parent / "hard"
ROWS = rows(FOLDER)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for every true statement of this session: a fifth a day, or all with ``--whole``."""
    if "row" in metafunc.fixturenames:
        shown = of_this_day(ROWS, metafunc.config, lambda row: row.name)
        metafunc.parametrize("row", shown, ids=[row.name for row in shown])


def test_a_true_statement_keeps_its_word(row: Row, tmp_path: Path) -> None:
    assert missed(FOLDER, row, tmp_path) == []
