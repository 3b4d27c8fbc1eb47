"""A user's code runs in a process of its own: however it ends that, the command ends with a sentence and never with 0."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import fakes
import pytest

EXITS = "os._exit(0)"
WAYS = {
    "os._exit": EXITS,
    "sys.exit": "sys.exit(0)",
    "SystemExit": 'raise SystemExit("fine")',
    "thread": "threading.Thread(target=os._exit, args=(0,)).start(); time.sleep(60)",
    "exec": 'os.execv(sys.executable, [sys.executable, "-c", ""])',
    "segfault": "os.kill(os.getpid(), signal.SIGSEGV)",
    "abort": "os.abort()",
    "closed": "os.closerange(3, 64); time.sleep(60)",
    "interrupt": "raise KeyboardInterrupt",
}
PLACES = ("at_import", "in_build", "in_observe")


@pytest.fixture
def file(tmp_path):
    """A place for a theorem's file, in the project of `verify`."""
    return tmp_path / "project" / "claims" / "ends.py"


def run(verify, *words):
    """A run of `verify theorem` that executes the file alone."""
    return verify("theorem", "claims/ends.py", "-o", "json", "--jobs", "1", *words, check="fakes:executed")


# Each way once, spread over the places, and the plainest way at each place.
@pytest.mark.parametrize(
    ("way", "place"),
    [*((way, PLACES[at % 3]) for at, way in enumerate(WAYS)), *(("os._exit", place) for place in PLACES[1:])],
)
def test_a_theorem_that_ends_its_process_is_an_error(verify, file, way, place):
    fakes.ending(file, place, WAYS[way])
    answer = run(verify)
    assert answer.code == 3, answer.err
    report = json.loads(answer.out)
    assert report["summary"]["exit_code"] == 3
    (part,) = report["theorems"]
    assert part["status"] == "ERROR" and part["reason"]
    assert "Traceback" not in answer.err


def test_a_theorem_that_ends_nothing_is_green(verify, file):
    """Else the tests above could not fail."""
    fakes.ending(file, "at_import", "pass")
    assert run(verify).code == 0


def test_a_thread_that_a_theorem_left_behind_ends_no_other(verify, file):
    """The process dies during the second check, through no fault of that theorem."""
    fakes.ending(file.with_name("first.py"), "at_import", "threading.Timer(0.5, os._exit, (0,)).start()")
    fakes.ending(file.with_name("second.py"), "in_build", "time.sleep(1.5)")
    words = ("theorem", "claims/first.py", "claims/second.py", "-o", "json", "--jobs", "1")
    answer = verify(*words, check="fakes:executed")
    assert [part["status"] for part in json.loads(answer.out)["theorems"]] == ["SUPPORTED", "SUPPORTED"]


def test_a_theorem_that_changes_the_folder_moves_no_report(verify, file):
    """Neither its own, nor the folder of the theorem after it, which finds its data beside it."""
    fakes.ending(file.with_name("first.py"), "at_import", 'os.chdir("/")')
    fakes.ending(file.with_name("second.py"), "in_build", 'assert os.path.isdir("claims"), os.getcwd()')
    words = ("theorem", "claims/first.py", "claims/second.py", "--jobs", "1", "--state", "kept")
    assert verify(*words, "-o", "json=r.json", "-o", "html=page.html", check="fakes:executed").code == 0
    assert {path.name for path in file.parents[1].iterdir()} >= {"r.json", "page.html", "kept"}


def test_outputs_are_places_in_the_folder_of_the_command(verify):
    """Also where a check runs in this process."""
    from theorax.cli.typed_values import outputs

    ((_, path),) = outputs(["json=r.json"])
    assert path == Path.cwd() / "r.json"


@pytest.mark.parametrize(("place", "status", "code"), [("at_import", "ERROR", 3), ("in_build", "INCONCLUSIVE", 4)])
def test_a_check_out_of_time_is_ended(verify, file, place, status, code):
    fakes.ending(file, place, "time.sleep(60)")
    began = time.monotonic()
    answer = run(verify, "--timeout", "0.3")
    assert time.monotonic() - began < 50
    assert answer.code == code
    (part,) = json.loads(answer.out)["theorems"]
    assert part["status"] == status
    assert "`--timeout 0.3`" in part["reason"]


@pytest.mark.parametrize("typed", ["0", "-1", "nan", "soon"])
def test_a_time_limit_that_means_nothing_is_refused(verify, file, typed):
    fakes.ending(file, "at_import", "pass")
    assert run(verify, "--timeout", typed).code == 2


LEAVES = 'open("child", "w").write(str(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid)); '


@pytest.mark.parametrize("then", ["pass", EXITS, "time.sleep(60)"])
def test_what_a_theorem_started_ends_with_its_worker(verify, file, then):
    fakes.ending(file, "in_build", LEAVES + then)
    run(verify, "--timeout", "2")
    child = int((file.parents[1] / "child").read_text(encoding="utf-8"))
    until = time.monotonic() + 10
    while is_there(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_there(child)


def is_there(pid: int) -> bool:
    """True for a process that has not ended; one that nobody has waited for has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


STATED = '''"""A file that ends its process."""

from _helper import *
from theorax.language import *

x = Parameter("x", "a number")
square = Inequality(x**2, at_least=0, over={x: (-1, 1)})
theorem = Theorem(place="", label="derived", claims=dict(square=square))
'''


# Of commands that check nothing; JAX is imported by one alone.
@pytest.mark.parametrize("command", ["lint", "explain", "evaluate", "plan"])
def test_a_command_that_checks_nothing_ends_with_a_sentence_too(verify, file, command):
    file.parent.mkdir(parents=True)
    file.write_text(STATED, encoding="utf-8")
    file.with_name("_helper.py").write_text("import os\nos._exit(0)\n", encoding="utf-8")
    answer = verify(command, "claims/ends.py", check="theorax.runs.checking:stage")
    assert answer.code == 2
    assert "does not end the process" in answer.out + answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("words", ["all", "audit", "baseline save"])
def test_every_command_that_checks_is_warned(verify, file, words):
    fakes.ending(file, "in_observe", EXITS)
    (file.parents[1] / "pyproject.toml").write_text('[tool.theorax]\ntheorems = ["claims"]\n', encoding="utf-8")
    answer = verify(*words.split(), check="fakes:executed")
    assert answer.code == 3
    assert "ERROR" in answer.out or "Not holding, and kept as such: ends" in answer.out


def test_a_script_without_a_guard_checks_a_file(tmp_path):
    """A worker does not run the main program once more."""
    fakes.ending(tmp_path / "claims" / "ends.py", "in_build", EXITS)
    (tmp_path / "script.py").write_text(
        "import theorax.runs.runner as runner, theorax.reports.library as library\n"
        "library.CHECK = 'fakes:executed'\n"
        "print(library.verify('claims/ends.py').exit_code)\n",
        encoding="utf-8",
    )
    paths = os.pathsep.join([os.path.dirname(fakes.__file__), *sys.path])
    words = [sys.executable, "script.py"]
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("3\n", 0), done.stderr
