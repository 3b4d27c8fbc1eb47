"""Every way in which a command ends: its exit code and the sentence that it says."""

from __future__ import annotations

import json
import os
from pathlib import Path

import fakes
import pytest

from theorax.cli.main import EXIT_CODES

ENDINGS = [
    # theorem, its exit code, a part of what is said
    ("gap", 0, "SUPPORTED"),
    ("refuted", 1, "The limit is not 2"),
    ("open", 4, "the bias bound dominates"),
    ("weak", 4, "Draw 6400."),
    ("raises", 3, "ZeroDivisionError: a programmer's error (fakes.py, line"),
    ("states", 3, "The claim has no margin. Write one."),
]


@pytest.mark.parametrize(("id", "code", "said"), ENDINGS)
def test_a_theorem_ends_with_its_exit_code(verify, root, id, code, said):
    fakes.library(root, **{id: fakes.stated()})
    answer = verify("theorem", id, "--jobs", "1")
    assert answer.code == code
    assert said in " ".join(answer.out.split())
    assert "Traceback" not in answer.out + answer.err


USAGE = [
    (("theorem", "gapp"), 2, "did you mean `gap`?"),
    (("theorem", "spectra"), 2, "Write `paper:spectra`"),
    (("theorem", "paper:spectre"), 2, "did you mean `spectra`?"),
    (("theorem", "kind:rates"), 2, "did you mean `rate`?"),
    (("theorem", "knd:rate"), 2, "did you mean `kind`?"),
    (("theorem", "zz*"), 2, "No theorem's id matches `zz*`"),
    (("theorem", "+"), 2, "names no theorem"),
    (("theorem", "gap,kind:limit"), 5, "selects no theorem"),
    (("theorem", "status:refuted"), 5, "No theorem is refuted. Nothing to show."),
    (("theorem", "gap", "--exclude", "gap"), 5, "selects no theorem"),
    (("theorem",), 2, "Missing argument"),
    (("thoerem", "gap"), 2, "did you mean `theorem`?"),
    (("theorem", "gap", "--effort", "quik"), 2, "did you mean `quick`?"),
    (("theorem", "gap", "--devcie", "gpu"), 2, "--device"),
    (("theorem", "gap", "--seed", "two"), 2, "not a valid int"),
    (("theorem", "gap", "--seed", "1" * 26), 2, "has more than 64 bits"),
    (("plan", "gap", "--seed", "1" * 26), 2, "has more than 64 bits"),
    (("baseline", "compare", "fifo"), 2, "is not a regular file"),
    (("baseline", "compare", "/dev/zero"), 2, "is not a regular file"),
    (("report", "render", "fifo"), 2, "is not a regular file"),
    (("report", "render", "/dev/zero"), 2, "is not a regular file"),
    (("replay", "fifo"), 2, "is not a regular file"),
    (("theorem", "gap", "--at", "gamma=1e999999999"), 2, "no double is near the value of `gamma`"),
    (("theorem", "gap", "--at", "gamma=1e-400"), 2, "no double is near the value of `gamma`"),
    (("theorem", "gap", "--sizes", "T=1..1" + "0" * 30), 2, "sizes go up to 2147483647"),
    (("theorem", "gap", "--level", "2"), 2, "Write `--level 0.025`"),
    (("theorem", "gap", "--jobs", "-1"), 2, "Write `--jobs 1`"),
    (("theorem", "gap", "--at", "gamma"), 2, "Write `--at gamma=1/4,l=2`"),
    (("theorem", "gap", "--at", "gamma=pi"), 2, "`pi` is no exact number"),
    (("theorem", "gap", "--at", "gamma=1/0"), 2, "no exact number"),
    (("theorem", "gap", "--at", "gamma=1,gamma=2"), 2, "second value"),
    (("theorem", "gap", "--sizes", "100..400"), 2, "does not name a letter"),
    (("theorem", "gap", "--sizes", "T=many"), 2, "no list of whole numbers"),
    (("theorem", "gap", "--sizes", "T=400..100"), 2, "positive and grow"),
    (("theorem", "gap", "--sizes", "T=0..100"), 2, "positive and grow"),
    (("theorem", "gap", "--output", "jsn"), 2, "did you mean `json`?"),
    (("theorem", "gap", "--output", "json=no/such/folder.json"), 2, "there is no folder"),
    (("theorem", "gap", "--output", "json", "--output", "terminal"), 2, "cannot share the standard output"),
    (("theorem", "gap", "--model", "layer.py"), 2, "Write it as FILE.py:FACTORY"),
    (("theorem", "gap", "--model", "absent.py:layer"), 2, "there is no file `absent.py`"),
    (("theorem", "gap", "--model", "no.such.module:layer"), 2, "there is no module"),
    (("explain", "gapp"), 2, "did you mean `gap`?"),
    (("plan", "--why", "gapp"), 2, "did you mean `gap`?"),
]


@pytest.mark.parametrize(("arguments", "code", "said"), USAGE, ids=[" ".join(row[0]) for row in USAGE])
def test_a_users_mistake_is_one_sentence_and_nothing_runs(verify, tmp_path, monkeypatch, arguments, code, said):
    calls = tmp_path / "calls"
    calls.mkdir()
    os.mkfifo("fifo")
    monkeypatch.setenv("THEORAX_TEST_CALLS", str(calls))
    answer = verify(*arguments)
    assert answer.code == code
    assert said in answer.err
    assert answer.err.startswith("Error: ")
    assert "Traceback" not in answer.err
    assert not answer.out
    assert not list(calls.iterdir())


def test_a_check_that_finds_the_users_mistake_ends_the_command(verify, root):
    fakes.library(root, misused=fakes.stated())
    answer = verify("theorem", "misused", "--at", "delta=1", "--jobs", "1")
    assert answer.code == 2
    assert "no letter `delta`" in answer.err


def test_a_model_without_its_factory_names_the_nearest(verify):
    Path("layer.py").write_text("def attention(key, T, d):\n    return None\n", encoding="utf-8")
    answer = verify("theorem", "gap", "--model", "layer.py:atention")
    assert answer.code == 2
    assert "did you mean `attention`?" in answer.err


def test_an_error_of_ours_leaves_its_traceback_in_a_file(verify, monkeypatch):
    Path(".theorax").mkdir()
    monkeypatch.setattr("theorax.reports.assembly.document", lambda *_: 1 / 0)
    for count in (1, 2):  # each error has a file of its own
        answer = verify("theorem", "gap", "--jobs", "1")
        assert answer.code == 3
        assert "Something in theorax itself went wrong" in answer.err
        assert "Traceback" not in answer.err
        files = list(Path(".theorax").glob("theorax-error-*.txt"))
        assert len(files) == count
        assert all("ZeroDivisionError" in file.read_text(encoding="utf-8") for file in files)
        assert any(file.name in "".join(answer.err.split()) for file in files)


def test_help_prints_the_exit_codes(verify):
    text = verify("--help").out
    assert sorted(EXIT_CODES) == [0, 1, 2, 3, 4, 5, 130, 141]
    for code, meaning in EXIT_CODES.items():
        assert f"{code:>3}  {meaning}" in text


def test_the_traceback_of_a_theorem_is_in_its_log(verify, root):
    fakes.library(root, raises=fakes.stated())
    answer = verify("theorem", "raises", "gap", "--jobs", "1")
    assert answer.code == 3
    log = Path(".theorax/log/raises.txt")
    assert str(log) in answer.out
    assert "Traceback" in log.read_text(encoding="utf-8")
    assert "✓ SUPPORTED gap" in answer.out


def test_json_alone_is_all_that_is_on_the_standard_output(verify):
    answer = verify("theorem", "gap", "bulk", "--jobs", "1", "--output", "json")
    found = json.loads(answer.out)
    assert [part["id"] for part in found["theorems"]] == ["bulk", "gap"]
    assert found["command"] == "verify theorem gap bulk --jobs 1 --output json"


def test_a_report_in_a_file_beside_the_terminal(verify):
    answer = verify("theorem", "gap", "--jobs", "1", "-o", "terminal", "-o", "json=report.json")
    assert "Strength" in answer.out
    assert json.loads(Path("report.json").read_text(encoding="utf-8"))["summary"]["exit_code"] == 0
