"""What a notebook shows: theorems, verdicts and reports as text, HTML with MathML, and LaTeX; and the example runs."""

from __future__ import annotations

import doctest
import json
import re
import subprocess
import sys
from pathlib import Path

import fakes
import nbformat
import pytest
from pages import HOSTILE, Parsed, hostile, printed
from test_document import report

import theorax.text.hypertext
from theorax.reports.library import Report
from theorax.text import hypertext
from theorax.text.blocks import Gap, Heading, Lines, Paragraph, Table

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
MEDIA = {"text/plain", "text/html", "text/latex"}


def test_examples_in_docstrings_are_true():
    assert doctest.testmod(theorax.text.hypertext).failed == 0


def test_there_is_a_notebook():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_itself(path, tmp_path):
    nbformat.validate(nbformat.read(path, as_version=4))
    script = Path(__file__).with_name("notebook_cells.py")
    told = subprocess.run([sys.executable, script, path], check=False, cwd=tmp_path, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    shown = json.loads(told.stdout)
    assert [name for name, _ in shown] == ["Theorem", "Report", "Verdict"]
    for _, found in shown:
        assert set(found) <= MEDIA and {"text/plain", "text/html"} <= set(found)
        assert Parsed(found["text/html"]).misplaced == []
    theorem, whole, verdict = (found for _, found in shown)
    assert "<math" in theorem["text/html"] and "<math" in whole["text/html"]
    assert r"\mathbb{E}" in theorem["text/latex"] and "Hypotheses" in theorem["text/plain"]
    assert "The theorem holds" in whole["text/html"]
    assert "SUPPORTED" in verdict["text/html"]


def test_the_example_holds_no_output():
    # A stored output is out of date with the first change, and nobody sees it.
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        assert all(not cell.outputs and cell.execution_count is None for cell in cells if cell.cell_type == "code")


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_breaks_out_of_a_cell(name):
    found = Report(hostile(HOSTILE[name]))._repr_mimebundle_()
    page = Parsed(found["text/html"])
    assert page.misplaced == [] and page.open == []
    assert not {"script", "img", "b", "iframe"} & set(page.names)
    assert page.names["style"] == 1
    found["text/html"].encode("utf-8")


def test_a_verdict_shows_its_formula_and_escapes_its_words():
    verdict = fakes.outcome("gap").claims[0]
    found = verdict._repr_mimebundle_()
    assert "<math" in found["text/html"] and "✓ SUPPORTED" in found["text/html"]
    assert found["text/latex"].startswith(r"$$\begin{array}{ll}\text{gap is SUPPORTED:} & \displaystyle \mathbb{E}")


def test_a_report_of_several_theorems_folds_them():
    page = Parsed(Report(printed())._repr_mimebundle_()["text/html"])
    folded = [attributes for name, attributes in page.elements if name == "details"]
    assert folded and "open" not in folded[0]


def test_the_style_of_a_cell_stays_in_it():
    found = Report(report(fakes.outcome("gap")))._repr_mimebundle_()["text/html"]
    style = re.search("<style>(.*?)</style>", found, re.DOTALL).group(1)
    depth, outside = 0, ""
    for sign in style:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        outside += sign if depth == 0 and sign not in "}" else ""
    assert set(outside.replace("@media (prefers-color-scheme:dark)", "").split()) == {".theorax"}


BLOCKS = (
    (Heading("a < b", status="REFUTED"), "<h4>a &lt; b <strong>✗ REFUTED</strong></h4>"),
    (Paragraph("x & y"), "<p>x &amp; y</p>"),
    (Lines(("a", "<b>")), "<pre>a\n&lt;b&gt;</pre>"),
    (
        Table(("h",), (("\x1b",),)),
        r"<table><thead><tr><th>h</th></tr></thead><tbody><tr><td>\x1b</td></tr></tbody></table>",
    ),
    (Gap(), ""),
)


@pytest.mark.parametrize(("block", "html"), BLOCKS)
def test_blocks_as_html(block, html):
    assert hypertext.render([block]) == html
