"""Markdown, JUnit XML, GitHub and the badge: what a build and a reader rely on."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from dataclasses import replace

import fakes
import nasty
import pytest
from test_document import edited, report, turned

from theorax.errors import UsageError
from theorax.reports import codequality, github
from theorax.reports.build_findings import BuildOutcome, findings_of_build, worst_first
from theorax.reports.claim_facts import wording
from theorax.reports.command_answers import Annotation, Answer
from theorax.reports.document import harmless_document, urgency
from theorax.reports.renderings import RENDERINGS, render
from theorax.text import markdown_blocks, safe
from theorax.text.codec import json_values

GOOD = ("PROVED", "CERTIFIED", "SUPPORTED")


@pytest.fixture
def good():
    return report(*(fakes.outcome(f"of_{status.lower()}", status) for status in GOOD))


@pytest.fixture
def whole():
    return nasty.whole()


def test_examples_in_docstrings_are_true():
    import doctest

    assert doctest.testmod(safe).failed == doctest.testmod(markdown_blocks).failed == 0


CLAIMS = [  # the claim's status, whether it is an erratum, what a build makes of it
    ("PROVED", False, "held"), ("CERTIFIED", False, "held"), ("SUPPORTED", False, "held"),
    ("REFUTED", False, "failed"), ("REFUTED", True, "held"), ("SUPPORTED", True, "undecided"),
    ("INCONCLUSIVE", False, "undecided"), ("VACUOUS", False, "undecided"), ("BLOCKED", False, "undecided"),
    ("INCONCLUSIVE", True, "undecided"), ("ERROR", False, "broken"), ("ERROR", True, "broken"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "erratum", "outcome"), CLAIMS)
def test_what_a_build_makes_of_a_claim(status, erratum, outcome, good):
    def change(found):
        found["theorems"] = found["theorems"][:1]
        (part,) = found["theorems"]
        part["claims"] = [turned(part["claims"][0], status) | {"corrected": "decay" if erratum else None}]
        part["status"] = status if not erratum else "SUPPORTED"

    (found,) = findings_of_build(edited(good, change))
    assert found.outcome is BuildOutcome(outcome)


def test_what_no_claim_explains_is_a_finding_of_its_own():
    blocked = fakes.outcome("gap", "BLOCKED", "It rests on bulk.")
    bare = replace(fakes.outcome("edge", "ERROR", "ZeroDivisionError"), claims=())
    found = findings_of_build(report(blocked, bare))
    assert [(part.id, part.name, str(part.outcome)) for part in found] == [
        ("gap", "gap", "held"), ("gap", "decay", "held"), ("gap", "theorem", "undecided"), ("edge", "theorem", "broken"),
    ]  # fmt: skip
    assert found[-1].sentence == "ZeroDivisionError"


def test_what_an_interrupted_run_did_not_reach_is_undecided(whole):
    assert findings_of_build(whole)[-1].id == "not_reached"
    assert findings_of_build(whole)[-1].outcome is BuildOutcome.UNDECIDED


def test_the_worst_comes_first(whole):
    found = [found.status for found in worst_first(findings_of_build(whole))]
    ranks = [urgency(status) for status in found]
    assert ranks == sorted(ranks, reverse=True)
    assert list(dict.fromkeys(found)) == ["ERROR", "REFUTED", "VACUOUS", "INCONCLUSIVE", "BLOCKED"]


# JUnit: what the schemas of Ant, Jenkins and their kin have in common, element by element.
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "property": set(),
    "testcase": {"skipped", "error", "failure", "system-out"},
    "skipped": set(), "error": set(), "failure": set(), "system-out": set(),
}  # fmt: skip
# The schema that Jenkins publishes (junit-10.xsd): attributes that must be there, and those that may.
REQUIRED = {"testsuite": {"name", "tests", "failures", "errors"}, "testcase": {"name"}, "property": {"name", "value"}}
ALLOWED = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {
        "name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id", "package", "file",
        "log", "url", "version",
    },
    "testcase": {"name", "time", "classname", "group"},
    "property": {"name", "value"},
    "failure": {"type", "message"}, "skipped": {"type", "message"}, "error": {"type", "message"},
    "properties": set(), "system-out": set(),
}  # fmt: skip
# What it does not have and readers use: the place of a case, as pytest's family xunit1 writes it, and the count of skipped.
BEYOND = {"testcase": {"file", "line"}, "testsuites": {"skipped"}}
TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?")
ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "file"},
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name", "classname", "time", "file", "line"},
    "skipped": {"message"}, "error": {"message", "type"}, "failure": {"message", "type"}, "system-out": set(),
}  # fmt: skip


def test_junit_has_the_published_structure(whole):
    root = xml.fromstring(render("junit", whole))
    assert root.tag == "testsuites"
    for node in root.iter():
        assert {child.tag for child in node} <= CHILDREN[node.tag]
        assert REQUIRED.get(node.tag, set()) <= set(node.attrib)
        assert set(node.attrib) <= ALLOWED[node.tag] | BEYOND.get(node.tag, set())
        assert TIME.fullmatch(node.get("time", "0"))
        whole_case = node.tag != "testcase" or node.get("name") != "theorem"  # a theorem is stated on no one line
        not_reached = node.get("name", "").endswith("not_reached") or node.get("classname") == "not_reached"
        if whole_case and not not_reached:
            assert set(node.attrib) == ATTRIBUTES[node.tag]
        if node.tag == "testsuite":
            assert node[0].tag == "properties" and {child.tag for child in node[1:]} == {"testcase"}
            for element, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
                assert sum(1 for _ in node.iter(element)) == int(node.get(name))
            assert sum(1 for _ in node.iter("testcase")) == int(node.get("tests"))
    for name in ("tests", "failures", "errors", "skipped"):
        assert int(root.get(name)) == sum(int(suite.get(name)) for suite in root)
    assert float(root.get("time")) == pytest.approx(sum(float(case.get("time")) for case in root.iter("testcase")))


def test_junit_says_where_a_claim_is_stated(whole):
    root = xml.fromstring(render("junit", whole))
    cases = root.findall(".//testcase[@classname='spectra.of_refuted']")
    lines = [(case.get("file"), case.get("line")) for case in cases]
    assert lines[:2] == [("theorems/spectra/of_refuted.py", "10"), ("theorems/spectra/of_refuted.py", "11")]
    # A report of an old version does not know, and no attribute says so.
    bare = xml.fromstring(render("junit", report(fakes.outcome("gap"))))
    assert all(not {"file", "line"} & set(node.attrib) for node in bare.iter())


def test_junit_has_one_case_per_claim_with_its_numbers():
    root = xml.fromstring(render("junit", report(fakes.outcome("gap"), fakes.outcome("edge", "REFUTED", "no."))))
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert names == [
        ("spectra.gap", "gap"),
        ("spectra.gap", "decay"),
        ("spectra.edge", "gap"),
        ("spectra.edge", "decay"),
    ]
    assert "1.9987(23)" in root.findtext(".//testcase[@classname='spectra.gap']/system-out")
    failure = root.find(".//failure")
    assert failure.get("type") == "REFUTED"
    assert failure.get("message") == "✗ REFUTED edge.gap: The limit is not 2: 1.7432(23), in [1.7366, 1.7498]."
    assert "[1.7366, 1.7498]" in failure.text and "Replay: verify theorem edge" in failure.text
    assert root.find(".//property[@name='replay']").get("value") == "verify theorem gap --fresh --effort standard"


def test_what_is_undecided_is_skipped_with_its_reason():
    root = xml.fromstring(render("junit", report(fakes.outcome("gap", "INCONCLUSIVE", "gap: open"))))
    (skipped,) = root.iter("skipped")
    assert "Undecided: the assumed corrections leave no room in the margin" in skipped.get("message")


def test_an_erratum_that_is_refuted_passes(whole):
    root = xml.fromstring(render("junit", whole))
    case = root.find(".//testcase[@name='as_printed']")
    assert [child.tag for child in case] == ["system-out"]
    assert "As expected, the statement as it was reconstructed here does not hold; gap does." in case[0].text


def test_an_empty_report_is_no_success():
    empty = report()
    assert xml.fromstring(render("junit", empty)).get("tests") == "0"
    assert "nothing was checked" in render("markdown", empty)
    assert json.loads(render("badge", empty)) | {"color": ""} == {
        "schemaVersion": 1, "label": "theorems", "message": "nothing checked", "color": "", "isError": False,
    }  # fmt: skip


BADGES = [
    (("SUPPORTED", "PROVED"), "2 of 2 hold", "brightgreen", False),
    (("SUPPORTED", "REFUTED", "REFUTED", "INCONCLUSIVE"), "1 of 4 hold, 2 refuted", "red", True),
    (("SUPPORTED", "BLOCKED", "INCONCLUSIVE"), "1 of 3 hold, 1 inconclusive", "yellow", False),
    (("ERROR",), "0 of 1 hold, 1 error", "red", True),
]


@pytest.mark.parametrize(("statuses", "message", "colour", "bad"), BADGES)
def test_badge(statuses, message, colour, bad):
    found = json.loads(render("badge", report(*(fakes.outcome(f"t{n}", s, "x") for n, s in enumerate(statuses)))))
    assert (found["message"], found["color"], found["isError"]) == (message, colour, bad)


def test_a_run_that_was_cut_short_has_no_green_badge(good):
    short = edited(good, lambda found: found["summary"].update(unfinished=["gap"], interrupted=True))
    assert json.loads(render("badge", short))["color"] == "lightgrey"


def test_markdown_begins_with_what_fails_and_folds_what_holds(whole):
    text = render("markdown", whole)
    assert text.startswith(
        "# Theorems: 3 of 9 hold\n\n! 1 ERROR, ✗ 1 REFUTED, ○ 1 VACUOUS, ? 1 INCONCLUSIVE, ■ 1 BLOCKED, "
    )
    assert text.index("## ! ERROR `of_error`") < text.index("## ✗ REFUTED `of_refuted`") < text.index("<details>")
    assert text.count("<details>") == text.count("</details>") == 3
    assert "| 1.9987(23) |" in text and "E[ √T⋅s₂(A) ] → 2⋅σ_A   as T → ∞" in text
    rows = [line for line in text.splitlines() if line.startswith("| ✓\N{NO-BREAK SPACE}SUPPORTED | `of_supported`")]
    assert "| 3/3 | 2/2 | 1/2 | 12 s |" in rows[0]


def test_markdown_says_the_words_of_the_terminal(good):
    text = render("markdown", good.of([good.theorems[0].id]))
    for words in (
        "Assumed: class",
        "Controls: 2 of 2 noticed",
        "Replay: verify theorem of_proved",
        "±2 standard errors",
    ):
        assert words in text


def many(document, count):
    """The document with its theorems repeated under other names."""
    theorems = tuple(replace(part, id=f"{part.id}_{n}") for n in range(count) for part in document.theorems)
    return replace(document, theorems=theorems, summary=document.summary.again(theorems))


@pytest.mark.parametrize("limit", [4_000, 40_000, 300_000, github.LIMIT])
def test_a_summary_keeps_its_limit_and_leaves_out_the_best(limit, whole):
    text = github.summary(many(whole, 40), limit)
    assert len(text.encode("utf-8")) <= limit
    assert text.startswith("# Theorems: ")
    (told,) = [line for line in text.splitlines() if line.startswith("**Left out**")]
    assert "`--output json=report.json` has everything." in told
    if limit > 200_000:
        assert text.index("## ✗ REFUTED") < text.index("**Left out**")
        assert "rows of the table" not in told
    if limit == github.LIMIT:
        assert text.count("\n## ") == 200 + 1
        assert "120 reports of theorems that hold" in told and "theorems that do not" not in told
        assert len(text.encode("utf-8")) > 0.9 * limit


def test_a_short_summary_leaves_nothing_out(whole):
    text = github.summary(whole)
    assert "Left out" not in text
    assert text.count("\n## ") == 5 + 1  # what does not hold, and the run


def test_annotations_are_at_most_ten_worst_first_on_the_line_of_the_claim(whole):
    lines = github.workflow_commands(many(whole, 5))
    assert len(lines) == github.ANNOTATIONS == 10
    assert all(line.startswith("::error ") for line in lines)
    assert lines[0].startswith("::error file=theorems/spectra/of_error.py,line=1,title=! ERROR of_error_0::a reason")
    first = "::error file=theorems/spectra/of_refuted.py,line=10,title=✗ REFUTED of_refuted_0.gap::The limit is not 2: "
    assert lines[5].startswith(first)
    assert lines[5].endswith("%0AReplay: verify theorem of_refuted --fresh --effort standard")
    assert github.workflow_commands(report(fakes.outcome("gap"))) == []


def test_an_annotation_without_a_place_names_none():
    (line,) = github.workflow_commands(report(fakes.outcome("gap", "INCONCLUSIVE", "x")))
    assert line.startswith("::warning title=? INCONCLUSIVE gap.gap::")


def test_a_code_quality_report_lists_what_does_not_hold_at_its_statement(whole):
    rows = json.loads(render("codequality", whole))
    wanted = [finding for finding in worst_first(findings_of_build(harmless_document(whole))) if finding.file]
    for row, finding in zip(rows, wanted, strict=True):
        assert row["description"].startswith(f"{finding.title}: {finding.sentence[:50]}")
        line = finding.claim.line if finding.claim is not None else 1
        assert row["location"] == {"path": finding.file, "lines": {"begin": line or 1}}
        assert row["severity"] == ("minor" if finding.outcome is BuildOutcome.UNDECIDED else "major")
    assert any(finding.status == "REFUTED" for finding in wanted)
    # A fingerprint is its finding's own, and stays when its statement moves or its numbers change.
    assert len({row["fingerprint"] for row in rows}) == len(rows)
    moved = Annotation(True, "✗ REFUTED a.b", "found 2.1", "a.py", 3)
    again = replace(moved, message="found 2.2", line=30)
    first, second = (json.loads(codequality.answer_text(Answer("", {}, (), (), (note,))))[0] for note in (moved, again))
    assert first["fingerprint"] == second["fingerprint"] and first["location"] != second["location"]


def test_the_signs_of_a_workflow_command_are_escaped(whole):
    def change(found):
        found["theorems"] = found["theorems"][3:4]
        (first, *_) = claims = found["theorems"][0]["claims"]
        claims[0] = turned(first, first["status"], sentence="100 % of it,\r\nnext: ::error::")
        found["theorems"][0]["file"] = "odd, path:100%.py"

    line = github.workflow_commands(edited(whole, change))[0]
    assert line.startswith("::error file=odd%2C path%3A100%25.py,line=10,title=")
    assert "::100 %25 of it,\\x0d next: ::error::%0AReplay" in line


def test_the_summary_is_appended_to_the_step(tmp_path, monkeypatch, whole):
    file = tmp_path / "summary.md"
    file.write_text("from before\n", encoding="utf-8")
    monkeypatch.setenv(github.VARIABLE, str(file))
    said = RENDERINGS["github"].say(whole)
    assert said.count("::error") == 2 and "is not set" not in said
    assert file.read_text(encoding="utf-8").startswith("from before\n# Theorems: 3 of 9 hold")
    file.write_text("x" * (github.LIMIT - 5000), encoding="utf-8")
    RENDERINGS["github"].say(whole)
    assert file.stat().st_size <= github.LIMIT
    monkeypatch.setenv(github.VARIABLE, str(tmp_path / "none" / "summary.md"))
    with pytest.raises(UsageError, match="GITHUB_STEP_SUMMARY"):
        RENDERINGS["github"].say(whole)


START = """
import json, sys
from pathlib import Path
from theorax.reports.reading import read
from theorax.reports.claim_facts import wording
from theorax.reports.document import harmless_document, urgency
from theorax.reports.renderings import RENDERINGS
document = read(Path(sys.argv[1]))
for rendering in RENDERINGS.values():
    assert rendering.render(document)
print(*sorted(name for name in {"jax", "sympy", "equinox", "numpy", "scipy", "theorax.language"} & set(sys.modules)))
"""


def test_rendering_needs_neither_jax_nor_sympy_nor_the_theorems(tmp_path, whole):
    file = tmp_path / "report.json"
    file.write_text(render("json", whole), encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", START, str(file)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


def test_rendering_leaves_the_document_as_it_is(whole):
    before = json_values(whole)
    for name in RENDERINGS:
        render(name, whole)
    assert json_values(whole) == before


def test_only_a_source_that_was_read_is_said_to_print_something():
    assert {label: wording(label) for label in ("read", "reconstructed", "derived")} == {
        "read": "what the source prints",
        "reconstructed": "the statement as it was reconstructed here",
        "derived": "the statement as it was reconstructed here",
    }
