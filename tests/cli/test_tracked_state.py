"""Results that came with a repository are no results: a state folder that git tracks is refused, wherever it is read."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import fakes
import pytest

from theorax.runs.sources import Sources
from theorax.runs.store import Store
from theorax.tracked import tracked_in
from theorax.verifiers.settings import Settings

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder: Path, *words: str) -> None:
    options = ("-c", "user.name=A", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *options, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(verify):
    """A project with a state folder that holds a green result of a theorem that is refuted."""
    here = Path.cwd()
    shutil.rmtree(here / ".git")
    git(here, "init", "-q")
    return here


def green(root: Path, state: Path) -> None:
    """Keep a green result under everything that determines the result of a refuted theorem."""
    manifest = Sources().manifest(root / "spectra" / "refuted.py", Settings())
    Store(state).put(manifest, fakes.outcome("refuted"), "2026-01-02T03:04:05Z")


def test_a_clone_does_not_bring_its_own_green(verify, project, root):
    fakes.library(root, refuted=fakes.stated())
    green(root, project / ".theorax")
    words = ("theorem", "refuted", "--jobs", "1")
    assert verify(*words).code == 0  # as if it had been found here
    git(project, "add", "-f", ".theorax")
    git(project, "commit", "-qm", "green")
    git(project.parent, "clone", "-q", str(project), "clone")
    os.chdir(project.parent / "clone")
    for command in (words, ("list",), ("draws", "gap"), ("plan",), ("explain", "gap"), ("theorem", "status:supported")):
        answer = verify(*command)
        assert answer.code == 2, command
        assert "git tracks it (`.theorax/" in answer.err
    git(Path.cwd(), "rm", "-rq", "--cached", ".theorax")
    assert verify("list").code == 0


def test_no_option_of_the_repository_hides_the_folder(verify, project, root):
    (project / "kept" / "green").mkdir(parents=True)
    (project / "kept" / "green" / "results.sqlite").touch()
    git(project, "add", "-f", "kept")
    (project / "pyproject.toml").write_text('[tool.theorax]\nstate = "link"\n', encoding="utf-8")
    (project / "link").symlink_to("kept/green")
    assert verify("theorem", "gap").code == 2
    assert verify("list").code == 2
    assert verify("list", "--state", "elsewhere").code == 0


@pytest.mark.parametrize("version", ["2", "3", "4"])
@pytest.mark.parametrize("form", ["plain", "split", "sha256"])
def test_every_form_of_an_index_is_read(tmp_path, version, form):
    """Against `git ls-files`, over names that share beginnings, hold spaces and letters of all sorts, and are long."""
    git(tmp_path, "init", "-q", *(["--object-format=sha256"] if form == "sha256" else []))
    names = [".theorax/a", ".theoraxed/b", "a/.theorax/c", "é/ü", "long/" + "n" * 200, "z z/.theorax x", "kept/one"]
    for name in (*names, *(f"many/{number}" for number in range(40))):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    git(tmp_path, "config", "index.version", version)
    git(tmp_path, "add", "-f", *names[1:3], "many")
    git(tmp_path, "update-index", f"--index-version={version}", *(["--split-index"] if form == "split" else []))
    assert tracked_in(tmp_path / ".theorax") is None
    git(tmp_path, "add", "-f", ".")
    for name in names:
        folder = (tmp_path / name).parent
        below = folder.relative_to(tmp_path).as_posix()
        assert tracked_in(folder) == min(other for other in names if other.startswith(f"{below}/"))
    git(tmp_path, "rm", "-q", "--cached", ".theorax/a")
    assert tracked_in(tmp_path / ".theorax") is None
    if version == "3":
        git(tmp_path, "add", "--intent-to-add", "-f", ".theorax/a")
        assert tracked_in(tmp_path / ".theorax") == ".theorax/a"


def test_a_state_folder_in_a_worktree_and_in_a_submodule_is_seen(tmp_path):
    (tmp_path / "one" / ".theorax").mkdir(parents=True)
    (tmp_path / "one" / ".theorax" / "a").touch()
    git(tmp_path / "one", "init", "-q")
    git(tmp_path / "one", "add", "-f", ".")
    git(tmp_path / "one", "commit", "-qm", "x")
    git(tmp_path / "one", "worktree", "add", "-q", "../two")
    assert tracked_in(tmp_path / "two" / ".theorax") == ".theorax/a"
    (tmp_path / "outer").mkdir()
    git(tmp_path / "outer", "init", "-q")
    git(
        tmp_path / "outer",
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        str(tmp_path / "one"),
        ".theorax",
    )
    assert tracked_in(tmp_path / "outer" / ".theorax") == ".theorax"
    assert tracked_in(tmp_path / "outer" / ".theorax" / ".theorax") == ".theorax/a"


def test_a_kept_result_of_other_claims_is_said_and_checked_again(verify, root):
    fakes.library(root, refuted=fakes.stated())
    manifest = Sources().manifest(root / "spectra" / "refuted.py", Settings())
    other = fakes.outcome("refuted")
    other = replace(other, claims=(replace(other.claims[0], id="other"), *other.claims[1:]))
    Store(Path(".theorax")).put(manifest, other, "2026-01-02T03:04:05Z")
    answer = verify("theorem", "refuted", "--jobs", "1")
    assert answer.code == 1
    assert "states something else than its file" in " ".join((answer.out + answer.err).split())


def test_a_workflow_keeps_its_results_outside_the_checkout():
    from theorax.cli import scaffold

    text = (Path(scaffold.__file__).parent / "scaffolds" / "github.yml").read_text(encoding="utf-8")
    commands = [
        line for line in text.splitlines() if line.strip().startswith(("verify baseline compare", "verify all"))
    ]
    assert len(commands) == 2
    assert all('--state "$RUNNER_TEMP/theorax"' in line for line in commands)
    assert "path: .theorax" not in text
