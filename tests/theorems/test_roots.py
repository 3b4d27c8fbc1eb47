"""Roots: where theorem files are looked for, and which files hold theorems."""

from __future__ import annotations

import sys
from pathlib import Path

import fakes
import pytest

from theorax.errors import UsageError
from theorax.project import Project, find_project
from theorax.theorems.catalogue import Catalogue
from theorax.theorems.roots import LIBRARY, Origin, roots, states

FOREIGN = '"""Foreign."""\nraise SystemExit("it runs")\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with one folder of theorems of its own, entered."""
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "gap.py").write_text(FOREIGN + fakes.stated(), encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[tool.theorax]\ntheorems = ["claims"]\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return find_project(tmp_path)


def installed(site: Path, name: str, target: str) -> None:
    """Lay down a distribution as an installer does, with a package that must not be imported."""
    folder = site / f"{name}-1.2.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text(f"[theorax.theorems]\n{name} = {target}\n", encoding="utf-8")
    package = site / name
    (package / "statements").mkdir(parents=True)
    (package / "__init__.py").write_text(FOREIGN, encoding="utf-8")
    (package / "statements" / "bulk.py").write_text(FOREIGN + fakes.stated(), encoding="utf-8")


def test_roots_come_in_their_order(project, tmp_path, monkeypatch):
    installed(tmp_path / "site", "foreign", "foreign.statements")
    monkeypatch.syspath_prepend(tmp_path / "site")
    (tmp_path / "more").mkdir()
    found = roots(project, ["more"])
    assert [(root.name, root.kind) for root in found] == [
        ("library", "library"), ("foreign", "installed"), ("project", "project"), ("more", "added")
    ]  # fmt: skip
    assert found[0].folder == LIBRARY and found[2].folder == tmp_path / "claims"
    assert (found[1].distribution, found[1].version) == ("foreign", "1.2")
    assert "foreign" not in sys.modules


def test_an_installed_theorem_is_found_without_its_package(project, tmp_path, monkeypatch):
    installed(tmp_path / "site", "foreign", "foreign.statements")
    monkeypatch.syspath_prepend(tmp_path / "site")
    catalogue = Catalogue(roots(project))
    assert catalogue.facts("bulk").paper == "statements" and catalogue.problem("bulk") is None
    assert catalogue.origin("bulk") == Origin("foreign", "installed", "statements", "bulk.py", "foreign", "1.2")
    assert catalogue.origin("gap") == Origin("project", "project", "claims", "gap.py")


@pytest.mark.parametrize("target", ["foreign.elsewhere", "nowhere.statements", "json.decoder"])
def test_an_entry_point_without_a_folder_is_told(project, tmp_path, monkeypatch, target):
    installed(tmp_path / "site", "foreign", target)
    monkeypatch.syspath_prepend(tmp_path / "site")
    with pytest.raises(UsageError, match="foreign names the root `foreign`"):
        roots(project)


@pytest.mark.parametrize(
    ("theorems", "added", "said"),
    [
        (("clains",), (), "does not exist; did you mean `claims`"),
        ((), ("nowhere",), "does not exist"),
        ((), ("pyproject.toml",), "is a file"),
        ((), ("",), "a root is a folder"),
    ],
)
def test_a_folder_that_is_none_is_told(project, theorems, added, said):
    with pytest.raises(UsageError, match=said):
        roots(Project(project.root, {"theorems": list(theorems)}), added)


def test_one_folder_is_one_root(project, tmp_path):
    (tmp_path / "link").symlink_to("claims")
    found = roots(project, ["claims", "./claims/", "link"])
    assert [root.kind for root in found] == ["library", "project"]


def test_names_of_roots_are_told_apart(project, tmp_path):
    for folder in ("a/library", "b/library", "own", "project", "a, b"):
        (tmp_path / folder).mkdir(parents=True)
    found = roots(project, ["a/library", "b/library", "own", "project", "a, b"])
    assert [root.name for root in found] == [
        "library", "project", "library-2", "library-3", "own-2", "project-2", "a--b"
    ]  # fmt: skip


FILES = {
    "theorem = Theorem()": True,
    "theorem: Theorem = Theorem()": True,
    "theorem=3": True,
    "x = 1\r\ntheorem = 3": True,
    "if True:\n    theorem = Theorem()": False,
    "theorem == 3": False,
    "theorems = 3": False,
    "# theorem = 3": False,
    "": False,
    "(": False,
}


@pytest.mark.parametrize(("text", "holds"), FILES.items())
def test_a_theorem_file_is_known_by_its_text(tmp_path, text, holds):
    (tmp_path / "file.py").write_bytes(text.encode())
    assert states(tmp_path / "file.py") is holds


def test_helpers_folders_and_pipes_are_no_theorems(project, tmp_path):
    import os

    folder = tmp_path / "claims"
    for name in ("_helper.py", ".hidden.py", "notes.txt"):
        (folder / name).write_text(fakes.stated(), encoding="utf-8")
    (folder / "folder.py").mkdir()
    os.mkfifo(folder / "pipe.py")
    (folder / "broken.py").symlink_to("nowhere.py")
    for inside in (".venv", "_old", "__pycache__"):
        (folder / inside).mkdir()
        (folder / inside / "other.py").write_text(fakes.stated(), encoding="utf-8")
    catalogue = Catalogue(roots(project))
    assert [id for id in catalogue.ids if catalogue.root(id).is_own] == ["gap"]


def test_files_of_the_root_form_a_paper_and_so_do_those_of_a_folder(project, tmp_path):
    (tmp_path / "claims" / "spectra").mkdir()
    (tmp_path / "claims" / "spectra" / "edge.py").write_text(fakes.stated(), encoding="utf-8")
    catalogue = Catalogue(roots(project)[1:])
    assert catalogue.papers == {"claims": ("gap",), "spectra": ("edge",)}


def test_a_file_that_is_seen_twice_is_one_theorem(project, tmp_path):
    (tmp_path / "claims" / "spectra").mkdir()
    (tmp_path / "claims" / "spectra" / "edge.py").write_text(fakes.stated(), encoding="utf-8")
    catalogue = Catalogue(roots(project, ["claims/spectra"]))
    assert catalogue.duplicate("edge") is None and catalogue.root("edge").kind == "project"


def test_every_file_of_the_library_that_is_no_helper_states_a_theorem():
    files = [path for path in LIBRARY.glob("*/*.py") if not path.name.startswith("_")]
    assert sorted(path.stem for path in files) == sorted(Catalogue().ids)
