"""Statements in words: every rendering of a report, and the explanation of a theorem, print them with the idea."""

from __future__ import annotations

from dataclasses import replace

import fakes
import pytest
from test_document import report

from theorax.cli.main import exit_code_of
from theorax.cli.workspace import Workspace
from theorax.reports.document import Document
from theorax.reports.html.page import html
from theorax.reports.markdown import text as markdown
from theorax.reports.theorem_text import Part, details
from theorax.text.plain import render
from theorax.theorems.catalogue import Catalogue


@pytest.fixture
def document() -> Document:
    """A report of one theorem with its words."""
    return report(replace(fakes.outcome("gap"), statement="Let n be odd. Then it is <odd>.", idea="Parity * two."))


def test_every_rendering_prints_both(document: Document) -> None:
    (part,) = document.theorems
    terminal = render(details(part, frozenset(Part)))
    assert "Let n be odd. Then it is <odd>." in terminal and "Parity * two." in terminal
    page = html(document)
    assert "Let n be odd. Then it is &lt;odd&gt;." in page and "Parity * two." in page
    told = markdown(document)
    assert "Let n be odd." in told and "Parity" in told
    assert [getattr(part, name) for name in ("statement", "idea")] == [
        "Let n be odd. Then it is <odd>.",
        "Parity * two.",
    ]


def test_explain_prints_both(capsys: pytest.CaptureFixture[str], tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert exit_code_of(Workspace(arguments=("explain", "outlier_identity"))) == 0
    told, facts = " ".join(capsys.readouterr().out.split()), Catalogue().facts("outlier_identity")
    assert facts.statement and facts.statement[:40] in told
    assert facts.idea and facts.idea[:40] in told
