"""The judgement of ``verify doctor``: what stops the work, what is only a remark, and the command for each."""

from pathlib import Path

import fakes
import pytest

from theorax.cli.doctor import Remark, judged


def own_project(**files: str) -> None:
    Path("pyproject.toml").write_text('[tool.theorax]\ntheorems = ["claims"]\n', encoding="utf-8")
    Path("claims").mkdir()
    for name, text in files.items():
        Path(f"claims/{name}.py").write_text(text, encoding="utf-8")


def test_a_machine_without_a_project_is_ready(verify):
    answer = verify("doctor")
    assert answer.code == 0
    assert answer.out.splitlines()[-1] == "✓ Ready."


def test_a_project_gets_its_remarks_with_a_command_each(verify):
    own_project(fine=fakes.stated(), broken='"""Broken."""\n\ntheorem = Theorem(\n')
    Path("requirements-theorax.txt").write_text("click==0.1\nno_such_package==1.0\n", encoding="utf-8")
    answer = verify("doctor")
    assert answer.code == 0
    told = answer.out[answer.out.index("! Ready") :].splitlines()
    assert told[0] == "! Ready, with 3 remarks:"
    assert [line.strip() for line in told if line.startswith("    ")] == [
        "verify lint root:own",
        "verify baseline save",
        "pip install -r requirements-theorax.txt",
    ]
    assert "broken" in told[1] and "fine" not in told[1]
    assert "click" in told[5] and "no_such_package missing (there 1.0)" in told[5]


@pytest.mark.parametrize("hurt", ["results", "root"])
def test_what_stops_the_work_is_told_first_and_ends_with_three(verify, hurt):
    if hurt == "results":
        Path(".theorax").write_text("a file, no folder", encoding="utf-8")
    else:
        own_project()
        Path("claims").rmdir()
    answer = verify("doctor")
    assert answer.code == 3
    assert "✗ Not ready:" in answer.out


def test_the_worst_remark_comes_first():
    mild, grave = Remark("a", "verify a"), Remark("b", "verify b", stops=True)
    assert list(judged([mild, grave])) == ["✗ Not ready:", "  b", "    verify b", "  a", "    verify a"]
    assert list(judged([mild])) == ["! Ready, with 1 remark:", "  a", "    verify a"]
