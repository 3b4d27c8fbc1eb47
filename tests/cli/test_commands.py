"""What each command shows."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import fakes
import pytest

from theorax import __version__
from theorax.runs.store import LAYOUT

TESTS = Path(fakes.__file__).parent
HEAVY = ("jax", "sympy", "networkx", "numpy", "scipy", "scipy.stats", "rich")

START = """
import signal
import sys
# Whoever runs the tests may ignore these, and a process inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from pathlib import Path
from theorax.cli.main import main
from theorax.cli.workspace import Workspace
try:
    main(sys.argv[2:], Workspace(library=Path(sys.argv[1]), check="fakes:check"))
finally:
    print("IMPORTED", *sorted(name for name in {heavy!r} if name in sys.modules), file=sys.stderr)
""".replace("{heavy!r}", repr(HEAVY))


def command(root: Path, *arguments: str) -> list[str]:
    """The command in a process of its own, which tells at its end what it imported."""
    return [sys.executable, "-c", START, str(root), *arguments]


def environment(**more: str) -> dict[str, str]:
    """The environment of such a process."""
    return {**os.environ, "PYTHONPATH": f"{TESTS.parent}{os.pathsep}{TESTS}", **more}


def test_a_piped_list_has_a_line_of_tabs_for_each_theorem(verify):
    assert verify("list").out.splitlines() == [
        "lanczos\tunchecked\t\t\tLanczos finds the top",
        "bulk\tunchecked\t\t\tThe bulk",
        "edge\tunchecked\t\t\tThe edge",
        "gap\tunchecked\t\t\tThe gap opens",
    ]


@pytest.fixture
def shipped(verify, root, tmp_path, monkeypatch):
    """A release that checked the theorem `gap`, in the place of the installed one."""
    from theorax.reports import reading, release
    from theorax.theorems.catalogue import Catalogue

    verify("theorem", "gap", "-j", "1", "-o", "json=report.json")
    Path(".theorax").rename("elsewhere")
    folder = tmp_path / "shipped"
    release.write_release(reading.read(Path("report.json")), Catalogue.of([root]).path, folder)
    monkeypatch.setattr(release, "heads", partial(release.heads, folder))
    monkeypatch.setattr(release, "release_report", partial(release.release_report, folder))


def test_what_was_never_checked_here_has_the_words_of_the_release_until_it_is(verify, shipped, monkeypatch):
    row = next(line for line in verify("list").out.splitlines() if line.startswith("gap"))
    assert row == f"gap\tunchecked\t\t\tThe gap opens\tSUPPORTED at release {__version__}, 3 200 draws"
    monkeypatch.setattr("theorax.cli.listing._is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    lines = verify("list").out.splitlines()
    assert (
        lines[lines.index("  · The gap opens") + 1].split(None, 1)[1]
        == f"SUPPORTED at release {__version__}, 3 200 draws"
    )
    assert "4 never checked here, 1 at the release" in lines[-1] + lines[-2]
    assert verify("replay", "--release", "-j", "1").code == 0
    assert verify("replay", "--release", "edge").code == 2
    assert verify("replay", "--release", "gap", "more").code == verify("replay").code == 2
    verify("theorem", "gap", "-j", "1")
    assert f"SUPPORTED at release {__version__}" not in verify("list").out


def test_a_list_for_a_person_has_papers_titles_ids_strengths_and_a_total(verify, monkeypatch):
    verify("theorem", "gap", "--jobs", "1")
    monkeypatch.setattr("theorax.cli.listing._is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    lines = verify("list").out.splitlines()
    assert "  A. Author, Spectra of things, 2025" in lines
    at = lines.index("  ✓ The gap opens")
    assert lines[at + 1].split() == ["gap", "measured", "2", "×", "7.4"]
    assert lines[-1] == "4 theorems: 1 hold, 3 never checked here   · never checked here ✓ holds"
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("columns", [0, 1, 12, 40])  # a terminal made for a program says zero
def test_a_list_on_a_terminal_of_few_columns_loses_no_title(verify, monkeypatch, columns):
    monkeypatch.setattr("theorax.cli.listing._is_terminal", lambda: True)
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((columns, 24)))
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    letters = "".join(verify("list").out.split())
    assert all(title.replace(" ", "") in letters for title in ("Lanczos finds the top", "The gap opens"))


def test_list_shows_the_last_verdict(verify):
    verify("theorem", "gap", "--jobs", "1")
    assert "gap\tSUPPORTED\tmeasured 2\t× 7.4\tThe gap opens" in verify("list").out.splitlines()
    assert "SUPPORTED" not in verify("list", "edge").out


def test_list_with_a_selector(verify):
    assert verify("list", "kind:limit", "--exclude", "bulk").out == "lanczos\tunchecked\t\t\tLanczos finds the top\n"


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
    assert "kept " in done.stdout
    assert done.stderr.split() == ["IMPORTED"]


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


def test_why_names_what_differs(verify, root, monkeypatch):
    assert "no result is kept" in verify("plan", "--why", "gap").out
    verify("theorem", "gap", "--jobs", "1")
    assert "Kept from" in verify("plan", "--why", "gap").out
    assert "setting effort: 'standard' -> 'quick'" in verify("plan", "--why", "gap", "--effort", "quick").out
    path = root / "spectra" / "gap.py"
    path.write_text(path.read_text(encoding="utf-8").replace("Theorem 2", "Theorem 3"), encoding="utf-8")
    assert "theorem: changed" in verify("plan", "--why", "gap").out
    monkeypatch.setattr("theorax.runs.store.LAYOUT", LAYOUT + 1)
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
    assert "✓ SUPPORTED gap" in answer.out
    assert "■ BLOCKED three" in answer.out


def test_the_graph_of_one_theorem_shows_its_ancestors_with_titles(verify, root):
    lines = verify("graph", "gap").out.splitlines()
    assert [line for line in lines if " gap" in line or " bulk" in line]
    assert len(lines) > len([line for line in lines if "·" in line])  # titles stand below
    assert max(map(len, lines)) <= 80
    assert "gap" in verify("graph", "bulk+").out
    assert "gap" not in verify("graph", "bulk").out


def test_a_broken_file_and_a_missing_ancestor_stop_no_other(verify, root):
    fakes.library(root, broken='"""Broken."""\n\ntheorem = Theorem(\n', orphan=fakes.stated(("bulc",)))
    answer = verify("all", "--jobs", "1")
    assert answer.code == 3
    assert "spectra/broken.py, line 3" in answer.out
    assert "did you mean `bulk`?" in " ".join(answer.out.split())
    assert "✓ SUPPORTED gap" in answer.out
    assert "broken" in verify("list").out


def test_one_line_per_finished_check_then_failures_last(verify, root):
    fakes.library(root, refuted=fakes.stated(("lanczos",)))
    lines = verify("all", "--jobs", "1").out.splitlines()
    assert lines[0].startswith("1/5 ✓ SUPPORTED lanczos (")
    assert any("✗ REFUTED refuted (" in line for line in lines[:5])
    assert any(line.startswith("✗ REFUTED   refuted.gap ") for line in lines[6:])
    assert any(line.startswith("4 of 5 hold, 1 refuted.") for line in lines)
    again = verify("all", "--lf", "--jobs", "1").out.splitlines()
    assert again[0].startswith("✗ REFUTED  refuted ")


def test_the_command_to_repeat_what_failed_names_the_theorems_that_were_asked_for(verify, root):
    names = [f"a_theorem_with_a_rather_long_name_{number}" for number in range(4)]
    fakes.library(root, **{name: fakes.stated(("lanczos",)) for name in names})
    lines = verify("theorem", *names, "--jobs", "1").out.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("Again: "))
    last = next(at for at, line in enumerate(lines) if line.endswith("verify audit"))
    assert " ".join(" ".join(lines[first:last]).split()).startswith(f"Again: verify theorem {' '.join(names)} --")


@pytest.mark.parametrize(
    "options", [("--at", "gamma=1/2"), ("--seed", "3"), ("--level", "0.01"), ("--effort", "quick")]
)
def test_the_command_to_repeat_a_run_has_its_settings(verify, options):
    lines = verify("theorem", "gap", "lanczos", "--jobs", "1", *options).out.splitlines()
    again = " ".join(next(line for line in lines if line.startswith("Again: ")).split())
    assert " ".join(options) in again


def test_what_failed_is_checked_again_with_what_waits_for_it(verify, root):
    fakes.library(root, refuted=fakes.stated(("lanczos",)), waits=fakes.stated(("refuted",)))
    assert "■ BLOCKED" in verify("all", "--jobs", "1").out
    again = verify("all", "--lf", "--jobs", "1").out
    assert "refuted" in again and "waits" in again and "gap" not in again.replace("refuted.gap", "")
    answer = verify("theorem", "bulk", "--lf", "--jobs", "1")
    assert answer.code == 5
    assert "no theorem failed when it was last checked" in " ".join((answer.out + answer.err).split())


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
    assert "delete that file" in " ".join(answer.out.split())
    assert "Strength" in answer.out


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_end_from_outside_keeps_what_had_finished(root, tmp_path, jobs, number):
    fakes.library(root, slow=fakes.stated(("gap",)))
    process = subprocess.Popen(
        command(root, "theorem", "+gap", "slow", "--jobs", jobs),
        env=environment(), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    assert "gap" in lines[2]
    time.sleep(0.3)
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "not finished: slow" in out
    again = subprocess.run(
        command(root, "theorem", "gap", "--jobs", "1"), env=environment(), cwd=tmp_path, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert "kept " in again.stdout


def test_shell_completion_knows_ids_and_selectors(root, tmp_path):
    more = {"_VERIFY_COMPLETE": "bash_complete", "COMP_WORDS": "verify theorem lan", "COMP_CWORD": "2"}
    done = subprocess.run(
        command(root), env=environment(**more), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["plain,lanczos"]


def in_bash(root: Path, folder: Path, script: str, line: str) -> list[str]:
    """The replies of a real bash that was given the script, to a line typed so far."""
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / "verify").write_text(f'#!/bin/sh\nexec {shlex.join(command(root))} "$@"\n', encoding="utf-8")
    (folder / "bin" / "verify").chmod(0o755)
    asked = f"""{script}
        COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
        COMP_LINE={shlex.quote(line)} COMP_POINT={len(line)}
        _verify_completion verify
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    variables = {**environment(), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    told = subprocess.run(["bash", "-c", asked], env=variables, cwd=folder, capture_output=True, text=True, check=True)
    return told.stdout.split()


@pytest.mark.parametrize(
    ("typed", "replies"),
    [
        ("verify theorem lan", ["lanczos"]),
        ("verify theorem +lan", ["+lanczos"]),
        ("verify theorem gap lan", ["lanczos"]),
        ("verify theorem pap", ["paper:"]),
        ("verify theorem paper:sp", ["spectra"]),  # what stands before the colon is a word of its own to bash
        ("verify theorem kind:ra", ["rate"]),
        ("verify theorem label:rec", ["reconstructed"]),
        ("verify theorem status:ref", ["refuted"]),
        ("verify theorem root:o", ["own"]),
        ("verify compl", ["completion"]),
    ],
)
def test_bash_completes(verify, root, tmp_path, typed, replies):
    answer = verify("completion", "bash")
    assert answer.code == 0 and "~/.bashrc" in answer.err
    assert in_bash(root, tmp_path, answer.out, typed) == replies


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script(verify, shell):
    answer = verify("completion", shell)
    assert answer.code == 0 and f"_VERIFY_COMPLETE={shell}_complete" in answer.out and "verify completion" in answer.err


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


@pytest.mark.parametrize("harm", ["altered", "no database", "a folder", "newer"])
def test_a_list_tells_that_the_store_is_damaged(verify, harm):
    verify("theorem", "gap", "--jobs", "1")
    path = Path(".theorax/results.sqlite")
    if harm in ("altered", "newer"):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(
                "PRAGMA user_version = 99" if harm == "newer" else "UPDATE sealed_results SET status = 'PROVED'"
            )
    else:
        for file in Path(".theorax").glob("results.sqlite*"):
            file.unlink()
        path.write_bytes(b"no database" * 100) if harm == "no database" else path.mkdir()
    answer = verify("list")
    assert answer.code == 0 and "gap\tunchecked" in answer.out
    said = {
        "altered": "Altered or damaged in",
        "no database": "The log of attempts is another file and stays",
        "a folder": "No last verdicts are shown",
        "newer": "was written by a newer version of theorax",
    }
    assert said[harm] in answer.err and ".theorax/results.sqlite" in answer.err
