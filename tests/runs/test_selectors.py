"""Selectors: a table of words and what they select."""

from __future__ import annotations

import fakes
import pytest

from theorax.runs.selectors import select
from theorax.theorems.catalogue import Catalogue

SELECTIONS = [
    ("gap", "gap", "gap"),
    ("g*", "gap", "gap"),
    ("*", "lanczos bulk edge gap", "lanczos bulk edge gap"),
    ("+gap", "lanczos bulk gap", "gap"),
    ("bulk+", "bulk gap", "bulk"),
    ("+bulk+", "lanczos bulk gap", "bulk"),
    ("lanczos+", "lanczos bulk edge gap", "lanczos"),
    ("paper:instruments", "lanczos", "lanczos"),
    ("paper:spec*", "bulk edge gap", "bulk edge gap"),
    ("kind:rate", "edge gap", "edge gap"),
    ("label:derived", "lanczos", "lanczos"),
    ("status:refuted", "edge", "edge"),
    ("status:unchecked", "lanczos bulk", "lanczos bulk"),
    ("status:within", "gap", "gap"),
    ("kind:rate,status:within", "gap", "gap"),
    ("kind:rate,status:supported", "gap", "gap"),
    ("kind:rate, +gap", "gap", "gap"),
    ("edge gap", "edge gap", "edge gap"),
    ("+gap --exclude kind:limit", "gap", "gap"),
]


@pytest.mark.parametrize(("words", "ids", "named"), SELECTIONS)
def test_what_is_selected(tmp_path, words, ids, named):
    catalogue = Catalogue.of([fakes.library(tmp_path)])
    typed, _, left_out = words.partition(" --exclude ")
    parts = [typed] if "," in typed else typed.split()
    statuses = {"edge": "REFUTED", "gap": "SUPPORTED"}
    found = select(parts, catalogue, lambda: statuses, left_out.split(), lambda: {"gap"})
    assert " ".join(found.ids) == ids
    assert " ".join(found.named) == named
