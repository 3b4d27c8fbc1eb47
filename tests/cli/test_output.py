"""``--output`` of every running command, and ``verify report render``: formats, files, exit codes, refusals."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml
from functools import partial
from pathlib import Path

import fakes
import pytest

from theorax.cli.main import exit_code_of as command
from theorax.cli.workspace import Workspace
from theorax.reports.renderings import RENDERINGS, render
from theorax.runs.sources import Sources


@pytest.fixture(autouse=True)
def few_sources(monkeypatch):
    """The engine's own files are the same in all these runs; to read them takes most of a run's time."""
    monkeypatch.setattr("theorax.runs.runner.Sources", partial(Sources, deciding=()))


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The text of a report of what holds and of what does not."""
    folder = tmp_path_factory.mktemp("run")
    root = fakes.library(folder / "papers", refuted=fakes.stated(), open=fakes.stated(), raises=fakes.stated())
    words = ("all", "--jobs", "1", "-o", f"json={folder / 'report.json'}", "--state", str(folder / "state"))
    assert command(Workspace(library=root, check="fakes:check", arguments=words)) == 1
    return (folder / "report.json").read_text(encoding="utf-8")


@pytest.fixture
def kept(verify, found):
    """That report in `report.json`."""
    Path("report.json").write_text(found, encoding="utf-8")
    return json.loads(found)


@pytest.mark.parametrize("name", RENDERINGS)
def test_a_report_is_rendered_to_a_file_and_to_the_standard_output(name, verify, kept, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    answer = verify("report", "render", "report.json", "--output", name, "-o", f"{name}=out.{RENDERINGS[name].suffix}")
    assert (answer.code, answer.err) == (0, "")
    written = Path(f"out.{RENDERINGS[name].suffix}").read_text(encoding="utf-8")
    assert written == render(name, kept)
    assert answer.out == (written if name != "github" else RENDERINGS[name].say(kept))


def test_a_report_is_rendered_to_many_files_at_once(verify, kept):
    wanted = [part for name in RENDERINGS for part in ("-o", f"{name}={name}.out")]
    assert verify("report", "render", "report.json", *wanted).code == 0
    for name in RENDERINGS:
        assert Path(f"{name}.out").read_text(encoding="utf-8") == render(name, kept)


def test_rendered_without_a_word_it_is_what_the_terminal_shows(verify, kept):
    answer = verify("report", "render", "report.json")
    assert answer.code == 0
    assert answer.out.startswith("verify all  standard") and "✗ REFUTED" in answer.out


REFUSED = [
    (("report", "render", "none.json"), "There is no report `none.json`"),
    (("report", "render", "."), "is a folder"),
    (("report", "render", "cut.json"), "no whole report"),
    (("report", "render", "edited.json"), "`.theorems[0].claims[0].status`"),
    (("report", "render", "later.json"), "Update theorax."),
    (("report", "render", "report.json", "-o", "jnit"), "did you mean `junit`?"),
    (("report", "render", "report.json", "-o", "junit="), "Write `--output junit=report.xml`"),
    (("report", "render", "report.json", "-o", "junit=no/such/folder.xml"), "there is no folder `no/such`"),
    (("report", "render", "report.json", "-o", "junit=."), "is a folder"),
    (("report", "render", "report.json", "-o", "junit", "-o", "markdown"), "cannot share the standard output"),
    (("report", "render", "report.json", "-o", "junit=a", "-o", "markdown=./a"), "another report goes to `a` already"),
    (("report", "render"), "Missing argument"),
    (("report", "rendr", "report.json"), "rendr"),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED, ids=[" ".join(row[0]) for row in REFUSED])
def test_what_cannot_be_meant_is_one_sentence_and_nothing_is_written(arguments, said, verify, kept):
    whole = Path("report.json").read_text(encoding="utf-8")
    Path("cut.json").write_text(whole[:-40], encoding="utf-8")
    edited = json.loads(whole)
    next(part for part in edited["theorems"] if part["claims"])["claims"][0]["status"] = "GREEN"
    edited["theorems"].sort(key=lambda part: not part["claims"])
    Path("edited.json").write_text(json.dumps({**edited}), encoding="utf-8")
    Path("later.json").write_text(json.dumps({**edited, "schema_version": 99}), encoding="utf-8")
    before = sorted(Path().iterdir())
    answer = verify(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err and "Traceback" not in answer.err
    assert sorted(Path().iterdir()) == before


def test_every_running_command_writes_several_reports(verify):
    wanted = (
        "-o",
        "terminal",
        "-o",
        "junit=junit.xml",
        "--output",
        "markdown=report.md",
        "--output",
        "badge=badge.json",
    )
    for words in (("theorem", "gap"), ("all",)):
        answer = verify(*words, "--jobs", "1", *wanted)
        assert answer.code == 0 and "SUPPORTED" in answer.out
        assert xml.parse("junit.xml").getroot().get("tests") == ("2" if words[0] == "theorem" else "8")
        assert Path("report.md").read_text(encoding="utf-8").startswith("# Theorems: all hold")
        assert json.loads(Path("badge.json").read_text(encoding="utf-8"))["color"] == "brightgreen"


def test_the_project_says_which_reports_it_wants(verify):
    Path("pyproject.toml").write_text(
        '[tool.theorax]\noutput = ["terminal", "junit=junit.xml"]\njobs = 1\n', encoding="utf-8"
    )
    assert "Strength" in verify("theorem", "gap").out
    assert Path("junit.xml").is_file()
    Path("junit.xml").unlink()
    assert json.loads(verify("theorem", "gap", "-o", "json").out)["summary"]["exit_code"] == 0
    assert not Path("junit.xml").exists()
    Path("pyproject.toml").write_text('[tool.theorax]\noutput = "junit"\n', encoding="utf-8")
    assert 'Write `output = ["terminal", "json=report.json"]`' in verify("theorem", "gap").err


def test_on_github_the_terminal_the_annotations_and_the_summary(verify, root, monkeypatch):
    fakes.library(root, refuted=fakes.stated())
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "step.md")
    answer = verify("theorem", "refuted", "--jobs", "1", "-o", "terminal", "-o", "github")
    assert answer.code == 1
    assert "Strength" in answer.out
    (line,) = [line for line in answer.out.splitlines() if line.startswith("::")]
    assert line.startswith("::error file=spectra/refuted.py,line=9,title=✗ REFUTED refuted.gap::")
    assert Path("step.md").read_text(encoding="utf-8").startswith("# Theorems: 0 of 1 hold")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/step.md")
    answer = verify("theorem", "refuted", "--jobs", "1", "-o", "github")
    assert answer.code == 2 and "there is no folder `no`" in answer.err


def test_a_report_that_cannot_be_written_stops_no_other(verify, monkeypatch):
    from theorax.errors import UsageError
    from theorax.reports import json as files

    write = files.write_text

    def full(content: str, path: Path) -> None:
        if path.name == "full.md":
            raise UsageError("The report could not be written to `full.md`: No space left on device.")
        write(content, path)

    monkeypatch.setattr(files, "write_text", full)
    answer = verify(
        "theorem", "gap", "--jobs", "1", "-o", "markdown=full.md", "-o", "json=report.json", "-o", "terminal"
    )
    assert answer.code == 2
    assert "No space left" in answer.err
    assert "Strength" in answer.out and Path("report.json").is_file()


NASTY = "\x1b[31mred\x07 \u202eturned\n::error::boo"


def test_the_texts_of_a_users_file_command_no_terminal(verify, root):
    title = '"""A title \\x1b[31m in red\x1b[32m and \u202eturned."""'
    text = fakes.stated().replace('"""A theorem."""', title)
    (root / "spectra" / "col\x1b[31mour.py").write_text(text, encoding="utf-8")
    (root / "spectra" / "title.py").write_text(text, encoding="utf-8")
    commands = (
        ("list",),
        ("graph",),
        ("graph", "-o", "dot"),
        ("all", "--jobs", "1"),
        ("theorem", "title"),
        ("plan", "--why", "title"),
        ("theorem", NASTY),
        ("report", "render", NASTY),
        ("theorem", "gap", "-o", NASTY),
    )
    for words in commands:
        answer = verify(*words)
        said = answer.out + answer.err
        assert said and not {"\x1b", "\x07", "\u202e"} & set(said)
        assert not any(line.lstrip().startswith("::") for line in said.splitlines())
        assert "Traceback" not in said


def test_a_graph_quotes_the_names_of_files(verify, root):
    (root / "spectra" / 'odd" #1 <b>.py').write_text(fakes.stated(("bulk",)), encoding="utf-8")
    assert '"bulk" -> "odd\\" #1 <b>";' in verify("graph", "-o", "dot").out
    drawn = verify("graph", "-o", "mermaid").out
    assert '["· odd#quot; #35;1 #lt;b>"]' in drawn and "bulk --> theorem_" in drawn
    assert "bulk" in json.loads(verify("graph", "-o", "json").out)["uses"]['odd" #1 <b>']


def test_a_replay_command_is_quoted_for_the_shell(verify, root):
    import shlex

    Path("my layer; echo.py").write_text("def layer(key, T, d):\n    return None\n", encoding="utf-8")
    verify("theorem", "gap", "--jobs", "1", "--model", "my layer; echo.py:layer", "-o", "json=report.json")
    found = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert shlex.split(found["command"])[6] == "my layer; echo.py:layer"
