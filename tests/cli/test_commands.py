"""What each command shows."""

from __future__ import annotations

import json
import os
import pty
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import fakes
import pytest

TESTS = Path(fakes.__file__).parent
HEAVY = ("jax", "sympy", "networkx", "numpy", "scipy", "scipy.stats", "rich")

START = """
import sys
from pathlib import Path
from theorax.cli.main import main
from theorax.cli.workspace import Workspace
try:
    main(sys.argv[2:], Workspace(roots=(Path(sys.argv[1]),), check="fakes:check"))
finally:
    print("IMPORTED", *sorted(name for name in {heavy!r} if name in sys.modules), file=sys.stderr)
""".replace("{heavy!r}", repr(HEAVY))


def command(root: Path, *arguments: str) -> list[str]:
    """The command in a process of its own, which tells at its end what it imported."""
    return [sys.executable, "-c", START, str(root), *arguments]


def environment(**more: str) -> dict[str, str]:
    """The environment of such a process."""
    return {**os.environ, "PYTHONPATH": f"{TESTS.parent}{os.pathsep}{TESTS}", **more}


def test_list_shows_papers_citations_ids_and_titles(verify):
    lines = verify("list").out.splitlines()
    assert lines == [
        "instruments",
        "  · lanczos  Lanczos finds the top",
        "",
        "spectra",
        "  A. Author, Spectra of things, 2025",
        "  · bulk     The bulk",
        "  · edge     The edge",
        "  · gap      The gap opens",
    ]


def test_list_shows_the_last_verdict(verify):
    verify("theorem", "gap", "--jobs", "1")
    assert "✓ gap" in verify("list").out
    assert "✓" not in verify("list", "edge").out


def test_list_with_a_selector(verify):
    assert verify("list", "kind:rate", "--exclude", "edge").out.split()[-4:] == ["gap", "The", "gap", "opens"]


def test_list_imports_nothing_heavy(root, tmp_path):
    done = subprocess.run(
        command(root, "list"), env=environment(), cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "gap" in done.stdout
    assert done.stderr.split() == ["IMPORTED"]


def test_kept_results_import_nothing_that_computes(root, tmp_path):
    for _ in range(2):
        done = subprocess.run(
            command(root, "theorem", "gap", "--jobs", "1"),
            env=environment(), cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert "Kept from" in done.stdout
    # networkx orders the checks; it brings none of the libraries that compute.
    assert done.stderr.split() in (["IMPORTED"], ["IMPORTED", "networkx"])


def test_kept_results_are_not_checked_again_unless_asked(verify, tmp_path, monkeypatch):
    calls = tmp_path / "calls"
    calls.mkdir()
    monkeypatch.setenv("THEORAX_TEST_CALLS", str(calls))
    verify("theorem", "gap", "--jobs", "1")
    verify("theorem", "gap", "--jobs", "1")
    assert len(list(calls.iterdir())) == 1
    verify("theorem", "gap", "--jobs", "1", "--fresh")
    assert len(list(calls.iterdir())) == 2
    verify("theorem", "gap", "--jobs", "1", "--at", "gamma=0.5")
    assert len(list(calls.iterdir())) == 3
    verify("theorem", "gap", "--jobs", "1", "--at", "gamma=1/2")
    assert len(list(calls.iterdir())) == 3


def test_why_names_what_differs(verify, root):
    assert "no result is kept" in verify("plan", "--why", "gap").out
    verify("theorem", "gap", "--jobs", "1")
    assert "Kept from" in verify("plan", "--why", "gap").out
    assert "setting effort: 'standard' -> 'quick'" in verify("plan", "--why", "gap", "--effort", "quick").out
    path = root / "spectra" / "gap.py"
    path.write_text(path.read_text(encoding="utf-8").replace("Theorem 2", "Theorem 3"), encoding="utf-8")
    assert "theorem: changed" in verify("plan", "--why", "gap").out
    with sqlite3.connect(".theorax/results.sqlite") as connection:
        connection.execute("UPDATE results SET layout = layout - 1")
    connection.close()
    told = " ".join(verify("plan", "--why", "gap").out.split())
    assert "was kept by another version of theorax, in another form" in told and "theorem: changed" not in told
    assert verify("theorem", "gap").code == 0
    assert "Kept from" in verify("plan", "--why", "gap").out


def test_the_graph_as_a_tree(verify):
    assert verify("graph").out.splitlines() == [
        "· lanczos",
        "├─ · bulk",
        "│  └─ · gap",
        "└─ · edge",
    ]


def test_the_graph_for_other_programs(verify):
    assert '"bulk" -> "gap";' in verify("graph", "-o", "dot").out
    assert "bulk --> gap" in verify("graph", "-o", "mermaid").out
    assert json.loads(verify("graph", "-o", "json").out)["uses"]["gap"] == ["bulk"]


def test_a_circle_is_named(verify, root):
    fakes.library(root, one=fakes.stated(("two",)), two=fakes.stated(("one",)), three=fakes.stated(("two",)))
    answer = verify("graph")
    assert answer.code == 2
    assert "one -> two -> one" in answer.err
    answer = verify("theorem", "one", "two", "three", "gap", "--jobs", "1")
    assert answer.code == 3
    assert "one -> two -> one" in answer.out
    assert "✓ SUPPORTED    gap" in answer.out
    assert "■ BLOCKED      three" in answer.out


def test_a_broken_file_and_a_missing_ancestor_stop_no_other(verify, root):
    fakes.library(root, broken='"""Broken."""\n\ntheorem = Theorem(\n', orphan=fakes.stated(("bulc",)))
    answer = verify("all", "--jobs", "1")
    assert answer.code == 3
    assert "spectra/broken.py, line 3" in answer.out
    assert "did you mean `bulk`?" in answer.out
    assert "✓ SUPPORTED    gap" in answer.out
    assert "broken" in verify("list").out


def test_one_line_per_finished_check_then_failures_last(verify, root):
    fakes.library(root, refuted=fakes.stated(("lanczos",)))
    lines = verify("all", "--jobs", "1").out.splitlines()
    assert lines[0].startswith("✓ SUPPORTED    lanczos  (")
    assert any(line.startswith("✗ REFUTED      refuted") for line in lines[:5])
    assert any(line.startswith("refuted ") and line.endswith("✗ REFUTED") for line in lines[6:])
    assert "5 theorems: 4 SUPPORTED, 1 REFUTED." in lines


def test_plain_output_fits_eighty_columns(verify, root):
    fakes.library(root, refuted=fakes.stated())
    for arguments in (("theorem", "gap"), ("all",)):
        text = verify(*arguments, "--jobs", "1").out
        assert max(map(len, text.splitlines())) <= 80


def test_an_unreadable_store_is_said_and_the_work_is_shown(verify):
    Path(".theorax").mkdir()
    Path(".theorax/results.sqlite").write_text("this is no database, whatever its name may say" * 30, encoding="utf-8")
    answer = verify("theorem", "gap", "--jobs", "1")
    assert answer.code == 0
    assert "Delete that file" in answer.out
    assert "Verdict" in answer.out


def test_an_unwritable_store_is_said_and_the_work_is_shown(verify):
    Path(".theorax/results.sqlite").mkdir(parents=True)
    answer = verify("theorem", "gap", "--jobs", "1")
    assert answer.code == 0
    assert "--state" in answer.out
    Path("taken").write_text("", encoding="utf-8")
    answer = verify("theorem", "gap", "--jobs", "1", "--state", "taken")
    assert answer.code == 0
    assert "Nothing is kept" in answer.out


CONFIGURATIONS = [
    ('[tool.theorax]\neffot = "quick"\n', "did you mean `effort`?"),
    ('[tool.theorax]\nseed = "one"\n', "Write `seed = 0`"),
    ('[tool.theorax]\neffort = "fast"\n', "There is no effort `fast`"),
    ("[tool.theorax\n", "is no TOML"),
    ("tool.theorax = 3\n", "is no table"),
]


@pytest.mark.parametrize(("text", "said"), CONFIGURATIONS)
def test_a_wrong_configuration_is_a_sentence(verify, text, said):
    Path("pyproject.toml").write_text(text, encoding="utf-8")
    answer = verify("theorem", "gap")
    assert answer.code == 2
    assert said in answer.err


def test_the_configuration_gives_defaults(verify):
    Path("pyproject.toml").write_text(
        '[tool.theorax]\neffort = "quick"\nstate = "kept"\njobs = 1\nexclude = ["edge"]\n', encoding="utf-8"
    )
    found = json.loads(verify("all", "-o", "json").out)
    assert found["settings"]["effort"] == "quick"
    assert {part["id"] for part in found["theorems"]} == {"lanczos", "bulk", "gap"}
    assert Path("kept/results.sqlite").is_file()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_keeps_what_had_finished(root, tmp_path, jobs):
    fakes.library(root, slow=fakes.stated(("gap",)))
    process = subprocess.Popen(
        command(root, "theorem", "+gap", "slow", "--jobs", jobs),
        env=environment(), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    assert "gap" in lines[2]
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "not finished: slow" in out
    again = subprocess.run(
        command(root, "theorem", "gap", "--jobs", "1"), env=environment(), cwd=tmp_path, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert "Kept from" in again.stdout


def test_shell_completion_knows_ids_and_selectors(root, tmp_path):
    more = {"_VERIFY_COMPLETE": "bash_complete", "COMP_WORDS": "verify theorem lan", "COMP_CWORD": "2"}
    done = subprocess.run(
        command(root), env=environment(**more), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["plain,lanczos"]


def on_a_terminal(root: Path, folder: Path, *arguments: str, **more: str) -> str:
    """What a command writes on a terminal of eighty columns."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command(root, *arguments), env=environment(TERM="xterm-256color", COLUMNS="80", **more), cwd=folder,
        stdout=theirs, stderr=theirs, stdin=theirs,
    )  # fmt: skip
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other side has closed
            break
        if not part:
            break
        text += part
    os.close(ours)
    assert process.wait(timeout=30) == 0
    return text.decode("utf-8")


def test_a_terminal_shows_colours_unless_told_not_to(root, tmp_path):
    clear = {"NO_COLOR": ""} if os.environ.get("NO_COLOR") else {}
    coloured = on_a_terminal(root, tmp_path, "theorem", "gap", "--jobs", "1", **clear)
    assert "\x1b[1;32m" in coloured
    assert "SUPPORTED" in coloured
    plain = on_a_terminal(root, tmp_path, "theorem", "gap", "--jobs", "1", NO_COLOR="1")
    assert "\x1b[1;32m" not in plain
    assert "\x1b[32m" not in plain
    assert "SUPPORTED" in plain
    assert "\x1b[" not in on_a_terminal(root, tmp_path, "list", NO_COLOR="1").partition("IMPORTED")[0]
