"""Modules of an author's own: imported by a theorem's file, and part of what determines its result."""

from __future__ import annotations

import sys
from pathlib import Path

import fakes
import pytest

from theorax.runs.manifests import key, manifest_differences
from theorax.runs.own_files import neighbours
from theorax.runs.sources import Sources
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.loading import load
from theorax.verifiers.settings import Settings

IMPORTING = '"""T."""\nfrom {module} import value\nfrom theorax.language import *\nprint(value)\n'
STATED = (
    'x = Parameter("x", "a number")\n'
    "theorem = Theorem(claims=dict(below=Inequality(x**2, at_most=2 * x, over={x: (0, 1)})))\n"
)


@pytest.fixture
def author(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Two folders of theorems that each have a ``_models.py``, and a package that is installed from its sources."""
    for folder, value in (("claims", "one"), ("others", "two")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "_models.py").write_text(f"from _deeper import value\nvalue += ' {value}'\n", "utf-8")
        (tmp_path / folder / "_deeper.py").write_text("value = 'number'\n", "utf-8")
        (tmp_path / folder / f"{folder}_stated.py").write_text(IMPORTING.format(module="_models") + STATED, "utf-8")
    package = tmp_path / "source" / "mynets"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", "utf-8")
    (package / "layers.py").write_text("from .units import value\n", "utf-8")
    (package / "units.py").write_text("value = 'three'\n", "utf-8")
    (tmp_path / "claims" / "packaged.py").write_text(IMPORTING.format(module="mynets.layers") + STATED, "utf-8")
    monkeypatch.syspath_prepend(tmp_path / "source")
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith(("mynets", "_models", "_deeper"))]:
        del sys.modules[name]


def manifest(file: Path) -> dict[str, str]:
    return Sources(deciding=()).manifest(file, Settings())


def test_modules_of_the_folder_are_imported_and_not_mixed(author, capsys):
    catalogue = Catalogue.of([author / "claims", author / "others"])
    for name in ("claims_stated", "others_stated", "claims_stated", "packaged"):
        load(name, catalogue)
    assert capsys.readouterr().out.split("\n") == ["number one", "number two", "number one", "three", ""]
    (author / "claims" / "_deeper.py").write_text("value = 'edited'\n", "utf-8")
    load("claims_stated", catalogue)
    assert capsys.readouterr().out == "edited one\n"


def test_a_module_of_the_folder_hides_no_installed_one(author):
    (author / "claims" / "json.py").write_text("raise SystemExit(7)\n", "utf-8")
    load("claims_stated", Catalogue.of([author / "claims"]))
    sys.modules.pop("json")
    import json

    assert Path(str(json.__file__)).parent != author / "claims"


@pytest.mark.parametrize(
    ("stated", "edited"),
    [
        ("claims/claims_stated.py", "claims/_models.py"),
        ("claims/claims_stated.py", "claims/_deeper.py"),
        ("claims/packaged.py", "source/mynets/layers.py"),
        ("claims/packaged.py", "source/mynets/units.py"),
    ],
)
def test_a_module_of_the_author_determines_the_result(author, stated, edited):
    before = manifest(author / stated)
    (author / edited).write_text("value = 'another'\n", "utf-8")
    after = manifest(author / stated)
    assert any(Path(edited).name in change.of for change in manifest_differences(before, after))
    assert key(before) != key(after)


@pytest.mark.parametrize(
    "text",
    [
        "import importlib\nvalue = importlib.import_module('_deeper').value\n",
        "value = __import__('_deeper').value\n",
        "from pathlib import Path\nvalue = Path(__file__).with_name('runs.csv').read_text('utf-8')\n",
        "value = open('data/runs.csv').read()\n",
        "from spacenets.layers import value\n",
    ],
)
def test_what_a_text_names_determines_the_result(author, text):
    places = [
        author / "claims" / "_deeper.py",
        author / "claims" / "runs.csv",
        author / "claims" / "data" / "runs.csv",
        author / "source" / "spacenets" / "layers.py",  # a folder without __init__.py
    ]
    for place in places:
        place.parent.mkdir(exist_ok=True)
        place.write_text("value = 'one'\n", "utf-8")
    file = author / "claims" / "claims_stated.py"
    file.write_text(text + STATED, "utf-8")
    before = manifest(file)
    for place in places:
        place.write_text("value = 'another'\n", "utf-8")
    assert key(before) != key(manifest(file))


def test_installed_packages_and_strangers_are_no_modules_of_the_author(author):
    file = author / "claims" / "claims_stated.py"
    file.write_text('"""T."""\nimport json\nimport numpy\nimport nowhere\n' + file.read_text("utf-8"), "utf-8")
    assert sorted(neighbours(file)) == ["_deeper.py", "_models.py", "claims_stated.py"]
    assert not [name for name in manifest(author / "others" / "others_stated.py") if "packaged" in name]


def test_a_folder_may_be_renamed(author):
    before = manifest(author / "claims" / "claims_stated.py")
    (author / "claims").rename(author / "renamed")
    assert manifest(author / "renamed" / "claims_stated.py") == before


def test_a_loop_of_imports_ends(author):
    (author / "claims" / "_deeper.py").write_text("import _models\nvalue = 'number'\n", "utf-8")
    assert sorted(neighbours(author / "claims" / "claims_stated.py"))[0] == "_deeper.py"


def test_the_library_of_fakes_reads_as_before(tmp_path):
    root = fakes.library(tmp_path)
    assert not [name for name in manifest(root / "spectra" / "gap.py") if name.startswith("source gap")]
