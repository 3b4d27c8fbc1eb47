"""``verify draws``: what a kept result was decided from, as a table; and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import fakes
import numpy as np
import polars
import pytest

from theorax.errors import ObservationError
from theorax.runs.store import Store
from theorax.verifiers.cases import kept_draws
from theorax.verifiers.cases.kept_draws import KeptColumn, packed, unpacked

MANIFEST = {"theorem": "gap"}
COLUMNS = (
    KeptColumn("spectra", "Gaussian", (("l", "2"),), 0, "table", "s", np.array([0.5, 0.25]), 64.0),
    KeptColumn("spectra", "Gaussian", (("l", "2"),), 0, "error", "s", np.array([1e-3, 2e-3]), 64.0),
    KeptColumn("spectra", "Gaussian", (("l", "2"),), 1, "table", "v", np.array([[1.0, 2.0], [3.0, 4.0]]), 128.0),
)
ROWS = """experiment,subject,at,size,draw,letter,value,error
spectra,Gaussian,l=2,64.0,1,s,0.5,0.001
spectra,Gaussian,l=2,64.0,2,s,0.25,0.002
spectra,Gaussian,l=2,128.0,1,v[0],1.0,
spectra,Gaussian,l=2,128.0,2,v[0],3.0,
spectra,Gaussian,l=2,128.0,1,v[1],2.0,
spectra,Gaussian,l=2,128.0,2,v[1],4.0,
"""


@pytest.fixture
def keep():
    def kept(observations: bytes | None) -> None:
        Store(Path(".theorax")).put(MANIFEST, fakes.outcome("gap"), "2026-01-02T03:04:05Z", observations)

    return kept


def test_columns_come_back_as_they_were():
    found = list(unpacked(packed(COLUMNS)))
    for one, other in zip(found, COLUMNS, strict=True):
        assert {**vars(one), "values": None} == {**vars(other), "values": None}
        assert np.array_equal(one.values, other.values)
    assert packed(()) is None


def test_what_is_too_large_is_not_kept(monkeypatch):
    monkeypatch.setattr(kept_draws, "LARGEST", 8)
    assert packed(COLUMNS) is None


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04junk", b"{}"])
def test_what_is_no_store_of_observations_is_refused(content):
    with pytest.raises(ObservationError, match="cannot be read"):
        list(unpacked(content))


def test_a_witness_is_a_table_of_its_own(verify, keep):
    noise = KeptColumn("spectra", "Gaussian", (), 0, "witness", "bound.e1", np.array([[1.5, 1.25]]), 64.0)
    keep(packed([*COLUMNS, noise]))
    table = "spectra,Gaussian,,64.0,1,bound.e1[0],1.5,\nspectra,Gaussian,,64.0,1,bound.e1[1],1.25,\n"
    assert verify("draws", "gap", "--witness").out == ROWS.partition("\n")[0] + "\n" + table
    assert verify("draws", "gap").out == ROWS


def test_where_no_search_found_a_witness_it_is_said(verify, keep):
    keep(packed(COLUMNS))
    found = verify("draws", "gap", "--witness")
    assert found.code == 2
    assert "No witness is kept of `gap`" in found.err


def test_the_draws_are_one_table(verify, keep):
    keep(packed(COLUMNS))
    assert verify("draws", "gap").out == ROWS
    assert verify("draws", "gap", "-o", "csv=draws.csv").out == ""
    assert Path("draws.csv").read_text(encoding="utf-8") == ROWS
    assert verify("draws", "gap", "-o", "npz=draws.npz").code == 0
    with np.load("draws.npz") as file:
        table = polars.DataFrame({name: file[name] for name in file.files})
    assert table.drop("error").rows() == polars.read_csv(ROWS.encode()).drop("error").rows()
    said = verify("data", "draws.npz", "--mean", "value = 1.8", "--margin", "1", "--sd", "1")
    assert said.code in (0, 4)  # a table like any other


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("gap",), "No result of `gap` is kept. Check it first: `verify theorem gap`."),
        (("gapp",), "did you mean `gap`?"),
        (("gap", "-o", "cvs"), "did you mean `csv`?"),
        (("gap", "-o", "npz"), "Write `--output npz=draws.npz`."),
        (("gap", "-o", "csv=no/such/folder.csv"), "there is no folder"),
    ],
)
def test_what_cannot_be_written_is_a_sentence(verify, words, said):
    answer = verify("draws", *words)
    assert answer.code == 2 and said in answer.err and not answer.out


def test_a_result_without_draws_is_a_sentence(verify, keep):
    keep(None)
    answer = verify("draws", "gap")
    assert answer.code == 2 and "is kept without draws" in answer.err
