"""Exit 0 comes from a summary that was written and from nothing else, whatever a user's model or a closed stream does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import fakes
import pytest

ENDS = {"sys": "import sys; sys.exit(0)", "os": "import os; os._exit(0)", "text": 'raise SystemExit("fine")'}
PLACES = {
    "import": "{end}\n\ndef factory(key, T, d): return None\n",
    "factory": "def factory(key, T, d):\n    {end}\n",
    "layer": "class Layer:\n    def attention(self, X):\n        {end}\n    __call__ = attention\n\n"
    "def factory(key, T, d): return Layer()\n",
}


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    (folder / ".git").mkdir(exist_ok=True)
    words = (sys.executable, "-m", "theorax", *words)
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def shell(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """A line of the shell, in this folder."""
    return subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def python(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own."""
    words = (sys.executable, "-c", program)
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


# One process for each place, and each way to end once.
@pytest.mark.parametrize(("end", "place"), [("os", "import"), ("sys", "factory"), ("text", "layer")])
def test_a_model_that_ends_its_process_is_an_error(tmp_path, end, place):
    (tmp_path / "model.py").write_text(PLACES[place].format(end=ENDS[end]), encoding="utf-8")
    words = ("--model", "model.py:factory", "--effort", "quick", "--jobs", "1", "-o", "terminal", "-o", "json=r.json")
    done = command(tmp_path, "theorem", "rank_collapse_width", *words)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "ERROR" in done.stdout
    assert '"exit_code": 3' in (tmp_path / "r.json").read_text(encoding="utf-8")


def test_a_plan_for_a_model_that_ends_its_process_is_a_sentence(tmp_path):
    (tmp_path / "model.py").write_text(PLACES["import"].format(end=ENDS["sys"]), encoding="utf-8")
    done = command(tmp_path, "plan", "rank_collapse_width", "--model", "model.py:factory", "--effort", "quick")
    assert done.returncode == 2
    assert "does not end the process" in done.stderr


CLOSED = ">&-", "> /dev/full"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize("words", ["list", "explain rank_collapse_width", "--help"])
def test_what_cannot_be_told_is_no_success_and_no_refutation(tmp_path, closed, words):
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m theorax {words} {closed}"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 3
    assert "The standard output cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize(
    ("words", "code"), [("theorem nosuch", 2), ("list >/dev/full", 3), ("list >/dev/null", 0), ("-x >&-", 2)]
)
def test_a_standard_error_that_cannot_be_written_changes_no_exit_code(tmp_path, words, code):
    done = shell(tmp_path, f"{sys.executable} -m theorax {words} 2>/dev/full")
    assert done.returncode == code


@pytest.mark.parametrize("words", ["list", "theorem price_identity", "init"])
def test_a_working_folder_that_was_deleted_is_a_sentence(tmp_path, words):
    (tmp_path / "gone").mkdir()
    done = shell(tmp_path, f"cd gone && rmdir ../gone && {sys.executable} -m theorax {words}")
    assert done.returncode == 2
    assert done.stderr.startswith("Error: The working folder was deleted.")


@pytest.mark.parametrize("words", ["theorem {}.py", "report render {}", "data {} --mean x=1", "theorem gap -o json={}"])
def test_a_name_too_long_for_a_file_is_a_sentence(verify, words):
    answer = verify(*words.format("n" * 300).split())
    assert answer.code == 2 and "File name too long" in answer.err


IN_AN_IMPORT = """
import sys

class Interrupts:
    def find_spec(self, name, *_):
        if name == {name!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupts())
sys.argv[1:] = ["list"]
from theorax.__main__ import run
run()
"""


@pytest.mark.parametrize("name", ["click", "theorax.cli.listing"])
def test_an_interruption_in_an_import_is_a_sentence(tmp_path, name):
    done = python(tmp_path, IN_AN_IMPORT.format(name=name))
    assert (done.returncode, done.stderr.strip(), done.stdout) == (130, "Error: Interrupted.", "")


IN_A_CALLBACK = """
import sys, time
from theorax.cli import main

class Called:
    def __del__(self):
        raise KeyboardInterrupt

main._hear_interruptions()
start = time.monotonic()
try:
    Called()
    time.sleep(60)
except KeyboardInterrupt:
    waited = time.monotonic() - start >= 60
    sys.exit("It came only after the wait." if waited else 130)
"""


def test_an_interruption_in_a_callback_is_repeated(tmp_path):
    done = python(tmp_path, IN_A_CALLBACK)
    assert (done.returncode, done.stderr) == (130, "")


def test_memory_that_is_used_up_is_a_sentence(verify, monkeypatch):
    def fills(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("theorax.reports.assembly.document", fills)
    answer = verify("theorem", "gap", "--jobs", "1")
    assert answer.code == 3 and "The memory is used up." in answer.err


@pytest.mark.parametrize("words", ["list", "explain rank_collapse_width", "--help"])
def test_a_reader_of_a_pipe_that_left_is_no_error(tmp_path, words):
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "theorax", *words.split()],
            cwd=tmp_path, stdout=write, stderr=subprocess.PIPE, text=True, check=False, timeout=300,
        )  # fmt: skip
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_closed_standard_error_changes_no_exit_code(tmp_path):
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m theorax list 2>&-"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0
    assert "rank_collapse_width" in done.stdout


def test_a_file_takes_no_number_of_a_closed_stream(tmp_path):
    (tmp_path / "probe.py").write_text(
        "import os, sys\nfrom theorax.cli import main\nmain._open_streams()\n"
        "found = os.open(os.devnull, os.O_RDONLY)\nsys.exit(found > 2)\n",
        encoding="utf-8",
    )
    closed = f"{sys.executable} probe.py <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", closed], cwd=tmp_path, env=dict(os.environ), check=False).returncode == 1


@pytest.mark.parametrize("raised", [SystemExit(0), SystemExit(1), SystemExit("done"), GeneratorExit()])
def test_whatever_ends_a_command_but_a_summary_is_an_error(verify, monkeypatch, raised):
    def ends(*_: object) -> None:
        raise raised

    monkeypatch.setattr("theorax.reports.assembly.document", ends)
    answer = verify("theorem", "gap", "--jobs", "1")
    assert answer.code == 3
    assert "Something in theorax itself went wrong" in answer.err


def test_a_command_without_a_number_is_an_error(verify, monkeypatch):
    monkeypatch.setattr("theorax.cli.check.run_and_report", lambda *_: None)
    assert verify("theorem", "gap", "--jobs", "1").code == 3


@pytest.mark.parametrize("id", ["exits", "generator_exits"])
def test_a_check_that_ends_its_process_is_that_theorems_error(verify, root, id):
    fakes.library(root, **{id: fakes.stated()})
    answer = verify("theorem", id, "gap", "--jobs", "1")
    assert answer.code == 3
    assert "✓ SUPPORTED" in answer.out
