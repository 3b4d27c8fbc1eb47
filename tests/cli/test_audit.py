"""``verify audit``: a folder of reports, of everything or of a selection."""

from __future__ import annotations

import json
from pathlib import Path

import fakes
import pytest

from theorax.reports.reading import read
from theorax.reports.renderings import RENDERINGS


def test_an_audit_of_everything_fills_a_folder(verify):
    answer = verify("audit", "--jobs", "1", "-o", "deep/audit")
    folder = Path("deep/audit")
    assert answer.code == 0
    assert f"The audit is in {folder / 'index.html'}" in answer.out
    assert "4/4 ✓ SUPPORTED gap" in answer.out
    assert {"index.html", "report.json", "report.txt"} <= {path.name for path in folder.iterdir()}
    assert len(list(folder.iterdir())) == len(RENDERINGS)
    document = read(folder / "report.json")
    assert [part.id for part in document.theorems] == ["lanczos", "bulk", "edge", "gap"]
    assert document.command == "verify audit --jobs 1 -o deep/audit"
    assert 'id="gap"' in (folder / "index.html").read_text(encoding="utf-8")


def test_an_audit_of_a_selection_says_how_it_went(verify, root):
    fakes.library(root, refuted=fakes.stated())
    answer = verify("audit", "refuted", "gap", "--jobs", "1")
    assert answer.code == 1
    found = json.loads(Path("audit/report.json").read_text(encoding="utf-8"))
    assert {part["id"]: part["status"] for part in found["theorems"]} == {"refuted": "REFUTED", "gap": "SUPPORTED"}


def test_an_audit_is_kept_and_its_page_is_a_rendering_of_its_json(verify):
    verify("audit", "gap", "--jobs", "1")
    assert verify("audit", "gap", "--jobs", "1").code == 0
    assert json.loads(Path("audit/report.json").read_text(encoding="utf-8"))["summary"]["kept"] == 1
    answer = verify("report", "render", "audit/report.json", "--output", "html")
    assert answer.out == Path("audit/index.html").read_text(encoding="utf-8")


def test_an_audit_in_pages_has_one_for_each_theorem_and_they_are_made_again_from_its_json(verify):
    answer = verify("audit", "--jobs", "1", "--pages", "-o", "site")
    assert answer.code == 0 and f"The audit is in {Path('site/index.html')}" in answer.out
    names = {"index.html", "lanczos.html", "bulk.html", "edge.html", "gap.html"}
    assert {path.name for path in Path("site").glob("*.html")} == names
    assert len(list(Path("site").iterdir())) == len(RENDERINGS) - 1 + len(names)
    again = verify("report", "render", "site/report.json", "--pages", "again")
    assert again.code == 0 and again.out == f"The pages are in {Path('again/index.html')}; open it in a browser.\n"
    assert {path.name for path in Path("again").iterdir()} == names
    assert all(Path("again", name).read_bytes() == Path("site", name).read_bytes() for name in names)


@pytest.mark.parametrize(
    ("words", "said"),
    [(("-o", "file"), "need a folder"), (("-o", "file/in"), "need a folder"), (("gapp",), "did you mean `gap`?")],
)
def test_a_users_mistake_is_a_sentence_and_nothing_runs(verify, tmp_path, monkeypatch, words, said):
    Path("file").write_text("", encoding="utf-8")
    calls = tmp_path / "calls"
    calls.mkdir()
    monkeypatch.setenv("THEORAX_TEST_CALLS", str(calls))
    answer = verify("audit", *words)
    assert answer.code == 2
    assert said in answer.err and "Traceback" not in answer.err
    assert not list(calls.iterdir())
