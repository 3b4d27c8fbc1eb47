"""A report from a file: whole and of the present version, or refused with the place of what is wrong."""

from __future__ import annotations

import json

import fakes
import pytest
from test_document import report

from theorax.errors import UsageError
from theorax.reports.json import text
from theorax.reports.reading import current, read
from theorax.text.codec import plain


@pytest.fixture
def whole():
    return report(fakes.outcome("gap"), fakes.outcome("refuted_edge", "REFUTED", "gap: The limit is not 2."))


def test_what_was_written_is_read(tmp_path, whole):
    path = tmp_path / "report.json"
    path.write_text(text(whole), encoding="utf-8")
    assert read(path) == whole


@pytest.mark.parametrize("cut", [1, 40, 4000, -3])
def test_a_report_that_was_cut_off_is_refused(cut, tmp_path, whole):
    path = tmp_path / "report.json"
    path.write_text(text(whole)[:cut], encoding="utf-8")
    with pytest.raises(UsageError, match="no whole report"):
        read(path)


EDITS = [
    (lambda d: d["theorems"][0]["claims"][1].update(status="GREEN"), r"`.theorems\[0\].claims\[1\].status`"),
    (lambda d: d["theorems"][1].pop("replay"), r"`.theorems\[1\]`: 'replay' is a required property"),
    (lambda d: d["suite"].update(surplus=1), r"`.suite`"),
    (lambda d: d.update(schema_version=99), "Update theorax"),
    (lambda d: d.update(schema_version=3), "Run `verify` again"),
    (lambda d: d.update(schema_version=True), "schema_version"),
    (lambda d: d.update(schema_version="2"), "schema_version"),
]


@pytest.mark.parametrize(("edit", "message"), EDITS)
def test_an_edited_report_is_refused_with_the_place(edit, message, tmp_path, whole):
    found = plain(whole)
    edit(found)
    path = tmp_path / "report.json"
    path.write_text(text(found), encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        read(path)


@pytest.mark.parametrize("content", ["[1, 2]", "3", "null", '{"schema_version": NaN}', "[" * 100_000])
def test_what_is_no_report_is_refused(content, tmp_path):
    path = tmp_path / "report.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError):
        read(path)


def test_a_missing_file_and_a_folder_are_sentences(tmp_path):
    with pytest.raises(UsageError, match="There is no report"):
        read(tmp_path / "none.json")
    with pytest.raises(UsageError, match="is a folder"):
        read(tmp_path)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read"):
        read(tmp_path / "bytes.json")


def test_reading_tells_a_long_value_shortly(tmp_path, whole):
    found = plain(whole)
    found["theorems"][0]["seconds"] = "x" * 100_000
    with pytest.raises(UsageError) as caught:
        current(json.loads(text(found)))
    assert len(str(caught.value)) < 600
