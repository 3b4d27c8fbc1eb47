"""`verify baseline`, `--changed` and `verify replay` as a user types them."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import fakes
import pytest
from test_theorem_files import page

from theorax.runs.sources import PACKAGE, Sources

FILE = Path("theorax-baseline.json")
MOVED = "fakes_moved:check"


def change(root, id="gap"):
    """Another text of a theorem's file."""
    path = root / "spectra" / f"{id}.py"
    path.write_text(path.read_text(encoding="utf-8").replace("Theorem ", "Proposition "), encoding="utf-8")


@pytest.fixture(autouse=True, scope="module")
def read_once():
    """The package's own files are parsed once for all commands of this module: they do not change between them."""
    original, known = Sources._parsed, {}

    def parsed(self, path):
        if not path.is_relative_to(PACKAGE):
            return original(self, path)
        if path not in known:
            known[path] = original(self, path)
        return known[path]

    Sources._parsed = parsed
    yield
    Sources._parsed = original


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """The ids of the theorems that were checked since the last time it was asked."""
    folder = tmp_path / "calls"
    folder.mkdir()
    monkeypatch.setenv("THEORAX_TEST_CALLS", str(folder))

    def asked():
        found = sorted(path.name.partition(".")[0] for path in folder.iterdir())
        for path in folder.iterdir():
            path.unlink()
        return found

    return asked


def test_what_is_saved_compares_as_the_same(verify):
    saved = verify("baseline", "save", "--jobs", "1")
    assert saved.code == 0 and "Wrote theorax-baseline.json: 8 claims of 4 theorems." in saved.out
    again = verify("baseline", "compare", "--jobs", "1", "--fresh")
    assert again.code == 0
    assert "8 unchanged (8 identical), of 8" in again.out and "✓ Nothing broke since the baseline." in again.out


def test_a_refuted_claim_fails_and_a_moved_one_is_told(verify):
    verify("baseline", "save", "--jobs", "1")
    answer = verify(
        "baseline", "compare", "-j", "1", "--fresh", "--seed", "3", "-o", "terminal", "-o", "json=c.json", check=MOVED
    )
    assert answer.code == 1
    assert "\n✗ edge broke (1 claim).\n" in answer.out
    accept = re.search(r"If you meant it: verify (.*)", answer.out)
    assert accept is not None
    assert "edge.gap   SUPPORTED → REFUTED" in answer.out and "→ bulk.gap  SUPPORTED" in answer.out
    found = json.loads(Path("c.json").read_text(encoding="utf-8"))
    assert [cause["claim"] for cause in found["causes"]] == ["edge.gap"]
    assert {row["theorem"] for row in found["claims"] if row["exit"] == 1} == {"edge"}
    strict = verify("baseline", "compare", "-j", "1", "--seed", "3", "--only", "bulk", "--strict", check=MOVED)
    assert strict.code == 1
    # The command that accepts it is one that runs, and then nothing is broken.
    assert verify(*shlex.split(accept[1]), "-j", "1", check=MOVED).code == 0
    assert "0 unchanged" not in verify("baseline", "compare", "-j", "1", "--only", "edge", check=MOVED).out


def test_of_a_report_nothing_is_run(verify, calls):
    verify("all", "--jobs", "1", "--output", "json=report.json")
    assert len(calls()) == 4
    assert verify("baseline", "save", "mine.json", "--report", "report.json").code == 0
    answer = verify("baseline", "compare", "mine.json", "--report", "report.json", "--output", "json")
    assert answer.code == 0 and not calls()
    assert json.loads(answer.out)["summary"]["identical"] == 8


def test_part_of_it_is_saved_anew_and_a_whole_save_says_what_it_dropped(verify, root):
    verify("baseline", "save", "--jobs", "1")
    change(root)
    assert "8 claims of 4 theorems" in verify("baseline", "save", "--only", "gap", "-j", "1").out
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    assert {part["id"]: part["run"] for part in kept["theorems"]} == {"bulk": 0, "edge": 0, "gap": 1, "lanczos": 0}
    verify("theorem", "gap", "-j", "1", "-o", "json=one.json")
    assert "No longer in it: bulk, edge, lanczos." in verify("baseline", "save", "--report", "one.json").out


def test_two_files_are_compared_without_what_computes_theorems(verify):
    verify("all", "--jobs", "1", "--output", "json=report.json")
    verify("baseline", "save", "--report", "report.json")
    words = ("baseline", "compare", "--report", "report.json")
    code = (
        "import sys; from theorax.cli.main import exit_code_of; from theorax.cli.workspace import Workspace; "
        f"code = exit_code_of(Workspace(arguments={words})); print(code, {{'jax', 'sympy', 'equinox'}} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 set()"


def test_a_build_on_github_sees_the_changed_line_and_the_statement(verify, root):
    """The file that changed comes first, at the line that git names; without git, at line 1."""
    project = Path.cwd()
    source = project / "papers"
    source.symlink_to(root)
    from theorax.reports.changed_lines import changed_lines

    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    (project / "model.py").write_text("a = 1\nb = 2\nc = 3\n", encoding="utf-8")
    (project / ".git").rmdir()
    assert changed_lines(["model.py"], FILE, project) == {"model.py": 1}
    FILE.write_text("{}", encoding="utf-8")
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "model.py", str(FILE)], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    (project / "model.py").write_text("a = 1\nb = 2\nc = 4\n", encoding="utf-8")
    assert changed_lines(["model.py", "absent.py", "model.py"], FILE, project) == {"model.py": 3}
    subprocess.run([*git, "commit", "-qam", "second"], check=True)
    assert changed_lines(["model.py"], FILE, project) == {
        "model.py": 3
    }  # since the baseline, not since the last commit
    assert changed_lines(["-o"], FILE, project) == {}


@pytest.mark.parametrize("format_", ["markdown", "html", "junit", "github", "json", "terminal"])
def test_every_command_that_answers_has_every_format(verify, tmp_path, monkeypatch, format_):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    verify("all", "--jobs", "1", "-o", "json=report.json")
    verify("baseline", "save", "--report", "report.json")
    table = tmp_path / "table.csv"
    table.write_text("n,error\n" + "".join(f"{n},{1 / n!r}\n" for n in (8, 16, 32, 64, 128)), encoding="utf-8")
    for words in (
        ("baseline", "compare", "report.json", "report.json"),
        ("replay", "report.json", "gap", "-j", "1"),
        ("data", str(table), "--rate", "error ~ n**-1", "--margin", "0.2"),
    ):
        answer = verify(*words, "-o", format_, "-o", f"{format_}=answer.txt")
        assert answer.code == 0 and answer.out and Path("answer.txt").read_text(encoding="utf-8")
        if format_ == "junit":
            assert xml.fromstring(answer.out).get("failures") == "0"
        assert answer.out == Path("answer.txt").read_text(encoding="utf-8") or format_ in ("github", "terminal")


def test_a_workflow_prints_the_comparison_and_the_annotations_and_writes_a_file(verify, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    verify("baseline", "save", "-j", "1")
    outputs = ("-o", "terminal", "-o", "github", "-o", "junit=theorax.xml")
    answer = verify("baseline", "compare", "-j", "1", "--fresh", "--seed", "3", *outputs, check=MOVED)
    assert answer.code == 1 and answer.out.index("✗ edge broke") < answer.out.index("::error ")
    assert (tmp_path / "summary.md").read_text(encoding="utf-8").startswith("# ✗ edge broke (1 claim).")
    assert xml.parse("theorax.xml").getroot().get("failures") == "1"


def test_a_theorem_that_is_gone_has_vanished(verify, root):
    verify("baseline", "save", "--jobs", "1")
    (root / "spectra" / "edge.py").unlink()
    answer = verify("baseline", "compare", "--jobs", "1")
    assert answer.code == 1 and "there is no theorem edge any more" in answer.out


def test_changed_checks_what_reads_a_changed_file_and_nothing_else(verify, root, calls):
    verify("baseline", "save", "--jobs", "1")
    calls()
    nothing = verify("all", "--changed", "--fresh", "-j", "1")
    assert (nothing.code, nothing.out, calls()) == (0, "", [])
    assert "0 affected by changes, 4 not affected." in nothing.err
    change(root)
    fakes.library(root, added=fakes.stated(), edge=(root / "spectra" / "edge.py").read_text(encoding="utf-8"))
    change(root)
    answer = verify("all", "--changed", "-j", "1")
    assert (answer.code, calls()) == (0, ["gap"])  # what is not in the baseline has not changed since
    assert "1 affected by changes, 3 not affected, 1 not in the baseline (not run; --new runs it)." in answer.err
    answer = verify("all", "--changed", "--new", "--fresh", "-j", "1")
    assert (answer.code, calls()) == (0, ["added", "gap"])
    assert "2 affected by changes, 3 not affected." in answer.err
    compared = verify("baseline", "compare", "--changed", "-j", "1")
    assert compared.code == 0 and "3 theorems read nothing that changed, and stand" in compared.out
    assert "1 not in the baseline (not run; --new runs it)" in compared.err


def test_why_says_what_differs_since_the_baseline(verify, root):
    assert "baseline" not in verify("plan", "--why", "gap").out
    verify("baseline", "save", "--jobs", "1", "--only", "gap")
    assert "Nothing differs since the baseline theorax-baseline.json" in verify("plan", "--why", "gap").out
    assert "Not in the baseline" in verify("plan", "--why", "bulk").out
    effort = verify("plan", "--why", "gap", "--effort", "quick").out
    assert "leaves it out, for no source differs" in " ".join(effort.split())
    change(root)
    told = " ".join(verify("plan", "--why", "gap").out.split())
    assert "Since the baseline theorax-baseline.json these differ; `--changed` checks it: theorem: changed" in told


def test_a_report_is_replayed_with_its_own_settings(verify, root, calls):
    verify("theorem", "gap", "edge", "-j", "1", "--seed", "7", "--effort", "quick", "-o", "json=report.json")
    calls()
    answer = verify("replay", "report.json", "-j", "1")
    assert answer.code == 0 and calls() == ["edge", "gap"]
    assert "2 bit-identical" in answer.out
    answer = verify("replay", "report.json", "edge", "-j", "1", "-o", "json", check=MOVED)
    (part,) = json.loads(answer.out)["theorems"]
    assert answer.code == 1 and part["differences"][0]["what"] == "status"
    (root / "spectra" / "edge.py").unlink()
    gone = verify("replay", "report.json", "edge")
    assert gone.code == 4 and "no theorem of this name" in gone.out
    # The state of the project knows nothing of it.
    assert verify("plan", "--why", "gap", "--seed", "7", "--effort", "quick").out.count("Kept from") == 1


def test_a_second_attempt_is_replayed_as_the_second_where_nobody_knows_the_first(verify, root):
    (root / "spectra" / "means.py").write_text(page(), encoding="utf-8")
    real = "theorax.runs.checking:stage"
    verify("theorem", "means", "-j", "1", check=real)
    verify("theorem", "means", "-j", "1", "--seed", "1", "-o", "json=second.json", check=real)
    (claim,) = json.loads(Path("second.json").read_text(encoding="utf-8"))["theorems"][0]["claims"]
    assert claim["attempt"] == 2
    for path in Path(".theorax").glob("results.sqlite*"):
        path.unlink()
    answer = verify("replay", "second.json", "-j", "1", check=real)
    assert answer.code == 0, answer.out
    assert "= means: bit-identical" in answer.out


USAGE = [
    (("baseline", "compare"), "There is no baseline"),
    (("baseline", "compare", "absent.json"), "Write one with `verify baseline save`"),
    (("baseline", "compare", "--within", "0"), "is no share of the margin"),
    (("baseline", "compare", "--output", "jsn"), "did you mean `json`?"),
    (("baseline", "save", "--report", "absent.json"), "There is no report `absent.json`"),
    (("baseline", "save", "no/such/file.json"), "there is no folder"),
    (("baseline", "save", "--only", "gapp"), "did you mean `gap`?"),
    (("all", "--changed"), "There is no baseline"),
    (("all", "--changed", "--baseline", "other.json"), "There is no baseline `other.json`"),
    (("replay", "absent.json"), "There is no report"),
]


@pytest.mark.parametrize(("arguments", "said"), USAGE, ids=[" ".join(row[0]) for row in USAGE])
def test_a_users_mistake_is_one_sentence_and_nothing_runs(verify, calls, arguments, said):
    answer = verify(*arguments)
    assert (answer.code, answer.out, calls()) == (2, "", [])
    assert said in answer.err and answer.err.startswith("Error: ") and "Traceback" not in answer.err


def test_more_mistakes(verify):
    verify("theorem", "gap", "-j", "1", "-o", "json=report.json")
    answer = verify("replay", "report.json", "gapp")
    assert answer.code == 2 and "did you mean `gap`?" in answer.err
    verify("baseline", "save", "--report", "report.json")
    answer = verify("baseline", "compare", "--report", "report.json", "--changed")
    assert answer.code == 2 and "`--changed` is about checks" in answer.err
    answer = verify("baseline", "save", "--report", "report.json", "--effort", "quick", "--fresh")
    assert answer.code == 2 and "`--effort`" in answer.err and "`--fresh`" in answer.err
    answer = verify("baseline", "compare", "report.json", "report.json", "--report", "report.json")
    assert answer.code == 2 and "both name the report" in answer.err
    answer = verify("baseline", "save", "--only", "bulk", "--effort", "quick", "-j", "1")
    assert answer.code == 2 and "effort standard and quick" in answer.err
    answer = verify("baseline", "compare", "report.json", "report.json")
    assert answer.code == 0 and "Nothing broke" in answer.out
