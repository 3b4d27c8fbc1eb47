"""What a user reads of a bibliography of their own: its entries in the report, a label that is in none, a broken file."""

from __future__ import annotations

import json
from dataclasses import replace

import fakes
import pytest

from theorax.cli.main import exit_code_of
from theorax.cli.workspace import Workspace
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.outcome import StepOutcome, StepStatus

CITED = "Author and Bird 2025, lemma 2; Weyl 1912; bulk"
OWN = "@article{spectra, author={Author, A. and Bird, B.}, title={Spectra of things}, year={2025}, eprint={2501.00001}}"


def check(id, settings):
    """A stand-in whose proof cites three sources."""
    outcome = fakes.check(id, settings)
    return replace(outcome, proof=(StepOutcome("gap", "all", "known", "", StepStatus.CITED, CITED),))


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    root = fakes.library(tmp_path / "papers")

    def run(*words):
        return exit_code_of(Workspace(root, check=f"{__name__}:check", arguments=(*words, "--state", "kept")))

    return root, run


def test_a_report_has_the_entries_of_what_it_cites(workspace, capsys):
    root, run = workspace
    (root / "references.bib").write_text(OWN, encoding="utf-8")
    assert (
        run(
            "theorem",
            "gap",
            "-v",
            "-o",
            "json=report.json",
            "-o",
            "terminal",
            "-o",
            "markdown=r.md",
            "-o",
            "html=r.html",
        )
        == 0
    )
    with open("report.json", encoding="utf-8") as file:
        document = json.load(file)
    assert [work["key"] for work in document["bibliography"]] == ["spectra", "weyl"]
    (theorem,) = document["theorems"]
    assert theorem["works"] == ["spectra", "weyl"]
    assert not [told for told in document["summary"]["troubles"] if "cited" in told]
    told = " ".join(capsys.readouterr().out.split())
    assert (
        Catalogue.of([root]).citation("spectra") == "A. Author and B. Bird (2025). Spectra of things. arXiv:2501.00001"
    )
    assert "References" in told and "Hermann Weyl (1912)." in told
    for name in ("r.md", "r.html"):
        with open(name, encoding="utf-8") as file:
            page = file.read()
        assert "Hermann Weyl (1912)." in page and "https://arxiv.org/abs/2501.00001" in page


def test_a_source_that_is_in_no_bibliography_is_told(workspace, capsys):
    _, run = workspace
    assert run("theorem", "gap") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "“Author and Bird 2025, lemma 2” is cited and no bibliography has it" in told
    assert "Add its entry to papers/references.bib." in told


def test_a_broken_bibliography_is_told_before_anything_runs(workspace, capsys):
    root, run = workspace
    (root / "references.bib").write_text("@article{spectra, author={A", encoding="utf-8")
    for command in ("theorem", "audit"):
        assert run(command, "gap") == 2
        assert "papers/references.bib: syntax error in line 1" in " ".join(capsys.readouterr().err.split())
