"""``verify new`` and ``verify init``: what they write holds, outside the package, in a folder that was empty."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import pytest
import yaml

from theorax.cli.scaffold import KINDS
from theorax.language import KINDS as OF_CLAIM
from theorax.testing.outputs import shell
from theorax.theorems.catalogue import LIBRARY

PACKAGE = LIBRARY.parents[1]
FAILED = "(exit code "


@pytest.fixture
def run(tmp_path, tmp_path_factory, monkeypatch):
    """A function that runs a line of bash in `tmp_path`, with this package imported."""
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE))
    return shell(tmp_path, tmp_path_factory.mktemp("bin"))


def test_there_is_a_template_of_every_kind():
    assert set(KINDS) == {kind.__name__.lower() for kind in OF_CLAIM}


def test_every_template_holds_in_an_empty_folder(run, tmp_path):
    made = run(" && ".join(f"verify new my_{kind} --kind {kind}" for kind in KINDS))
    assert FAILED not in made
    for kind in KINDS:
        text = (tmp_path / "claims" / f"my_{kind}.py").read_text()
        assert len(text.splitlines()) <= 45
        assert text.count("# change this:") >= 3
    checked = run("verify theorem claims/ --effort quick -o json=report.json")
    assert FAILED not in checked
    theorems = json.loads((tmp_path / "report.json").read_text())["theorems"]
    assert sorted(part["id"] for part in theorems) == sorted(f"my_{kind}" for kind in KINDS)
    for part in theorems:
        assert part["label"] == "own"
        assert len(part["controls"]) == 1 and part["controls"][0]["fired"], part["id"]
        own = [mutant for mutant in part["mutants"] if mutant["origin"] == "file"]
        assert len(own) == 1 and own[0]["killed"], part["id"]


def test_new_says_how_to_name_the_folder_and_overwrites_nothing(verify):
    first = verify("new", "gap_opens", "--kind", "rate")
    assert first.code == 0
    assert "Wrote claims/gap_opens.py: a rate" in first.out
    assert "verify theorem claims/gap_opens.py --effort quick" in first.out
    assert '[tool.theorax]\ntheorems = ["claims"]' in first.out
    before = Path("claims/gap_opens.py").read_text()
    again = verify("new", "gap_opens", "--kind", "limit")
    assert (again.code, Path("claims/gap_opens.py").read_text()) == (2, before)


def test_new_writes_into_the_root_of_the_project(verify):
    Path("pyproject.toml").write_text('[tool.theorax]\ntheorems = ["mine"]\n')
    Path("mine").mkdir()
    answer = verify("new", "gap_opens", "--kind", "law")
    assert "Wrote mine/gap_opens.py" in answer.out
    assert answer.out.endswith("Next: verify theorem gap_opens --effort quick\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("2x", "--kind", "limit"), "is no id"),
        (("a/b", "--kind", "limit"), "is no id"),
        (("gap", "--kind", "limit"), "There is a theorem `gap` already"),
        (("x", "--kind", "limt"), "did you mean `limit`"),
        (("x", "--kind", "limit", "--root", "taken"), "cannot be written"),
    ],
)
def test_what_new_cannot_write_is_said(verify, words, said):
    Path("taken").write_text("a file")
    answer = verify("new", *words)
    assert answer.code == 2
    assert said in " ".join(answer.err.split())


def test_init_leaves_what_is_there(verify):
    Path("pyproject.toml").write_text('[project]\nname = "mine"\n')
    Path(".gitignore").write_text("dist/\n")
    assert verify("init", "--ci", "github").code == 0
    assert Path("pyproject.toml").read_text() == '[project]\nname = "mine"\n\n[tool.theorax]\ntheorems = ["claims"]\n'
    assert Path(".gitignore").read_text() == "dist/\n.theorax/\n"
    files = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert verify("init", "--ci", "github").code == 0
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == files


def test_init_beside_a_table_and_a_pipeline_says_what_to_add(verify):
    Path("pyproject.toml").write_text("[tool.theorax]\njobs = 1\n")
    Path(".gitlab-ci.yml").write_text("stages: [test]\n")
    answer = verify("init", "--ci", "gitlab")
    assert '! Add `theorems = ["claims"]` to [tool.theorax]' in answer.out
    assert "! Add to .gitlab-ci.yml: include: .gitlab-ci.theorems.yml" in answer.out
    assert Path(".gitlab-ci.yml").read_text() == "stages: [test]\n"


def test_the_lock_is_exact(verify):
    verify("init")
    head, own, *others = Path("requirements-theorax.txt").read_text().splitlines()
    assert head.startswith("#")
    assert own.startswith(("# FILL IN", "theorax==", "theorax @ "))
    versions = dict(line.split("==") for line in others)
    assert {"jax", "equinox", "sympy", "numpy", "jaxlib"} <= set(versions)
    assert all(metadata.version(name) == version for name, version in versions.items())


def steps(folder: Path, ci: str) -> list[str]:
    """The commands of the workflow, but for the installation."""
    if ci == "github":
        file = yaml.safe_load((folder / ".github/workflows/theorems.yml").read_text())
        job = file["jobs"]["theorems"]
        assert file["permissions"] == {"contents": "read"}
        for step in job["steps"]:
            # A tag can be moved, a commit cannot.
            assert "run" in step or len(step["uses"].partition("@")[2]) == 40
        lines = [step["run"] for step in job["steps"] if "run" in step]
    else:
        lines = yaml.safe_load((folder / ".gitlab-ci.yml").read_text())["theorems"]["script"]
    assert lines[0] == "python -m pip install -r requirements-theorax.txt"
    return lines[1:]


@pytest.mark.parametrize("ci", ["github", "gitlab"])
def test_the_commands_of_the_workflow_work_in_a_repository_made_by_init(run, tmp_path, ci):
    assert FAILED not in run(f"git init -q . && verify init --ci {ci}")
    for line in steps(tmp_path, ci):
        assert FAILED not in run(f"set -e\n{line}")
    assert "<testsuite" in (tmp_path / "theorax.xml").read_text()
    if ci == "gitlab":
        job = yaml.safe_load((tmp_path / ".gitlab-ci.yml").read_text())["theorems"]
        for file in job["artifacts"]["reports"]["codequality"]:
            assert json.loads((tmp_path / file).read_text()) == []
