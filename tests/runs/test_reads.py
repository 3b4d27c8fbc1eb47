"""A kept result is used again only if everything that its check was seen to read is as it was."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from theorax.runs.manifests import manifest_differences, observed_entries
from theorax.runs.sources import Sources
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.loading import load
from theorax.verifiers.reads import recorded_reads
from theorax.verifiers.settings import Settings

STATED = """
from theorax.language import *
x = Parameter("x", "a number")
theorem = Theorem(claims=dict(below=Inequality(x**2, at_most=2 * x, over={x: (0, 1)})))
"""
HEAD = '"""T."""\nfrom pathlib import Path\nHERE = Path(__file__).parent\n'

READING = {  # how a file reads, and what is then edited
    "a computed name": ('import numpy as np\n[np.load(HERE / f"seed_{i}.npy") for i in range(2)]', "array"),
    "memory-mapped": ('import numpy as np\nnp.load(HERE / f"seed_{1}.npy", mmap_mode="r")', "array"),
    "a glob": ('sorted(HERE.glob("*.npy"))', "new file"),
    "a glob by the old module": ('import glob\nglob.glob(str(HERE / "seed*"))', "new file"),
    "a listing": ("import os\nos.listdir(HERE)", "new file"),
    "a walk": ("import os\nlist(os.walk(HERE))", "new file"),
    "a computed module": ('import importlib\nimportlib.import_module("_mod" + "els")', "module"),
    "a module on the path": ('import importlib\nimportlib.import_module("far" + "_away")', "far module"),
    "data of a module on the path": ('import importlib\nimportlib.import_module("far" + "_away")', "far data"),
    "a variable": ('import os\nos.environ.get("THEORAX_" + "SCALE", "1")', "variable"),
    "a variable by subscript": ('import os\nos.environ["THEORAX_" + "SCALE"]', "variable"),
    "a variable by getenv": ('import os\nos.getenv("THEORAX_" + "SCALE")', "variable"),
    "a variable that is asked for": ('import os\n"THEORAX_OTHER" in os.environ', "other variable"),
    "a copy of all variables": ("import os\nos.environ.copy()", "variable"),
    "a file that is not there": ('try:\n    open(HERE / ("over" + "ride.json"))\nexcept OSError: pass', "override"),
    "a thread": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        'with ThreadPoolExecutor(1) as pool: pool.submit((HERE / ("seed_" + "1.npy")).read_bytes).result()',
        "array",
    ),
    "a database": ('import sqlite3\nsqlite3.connect(HERE / ("data" + ".db")).execute("select 1")', "database"),
    "a program": ('import subprocess, sys\nsubprocess.run([sys.executable, "-c", "0"], check=True)', "nothing"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    claims, far = tmp_path / "claims", tmp_path / "far"
    claims.mkdir()
    far.mkdir()
    for i in range(2):
        np.save(claims / f"seed_{i}.npy", np.full(3, i))
    (claims / "_models.py").write_text("value = 1\n", "utf-8")
    (claims / "data.db").write_bytes(b"")
    (far / "numbers.txt").write_text("1", "utf-8")
    (far / "far_away.py").write_text(
        "from pathlib import Path\nvalue = Path(__file__).with_name('numbers' + '.txt').read_text()\n", "utf-8"
    )
    monkeypatch.syspath_prepend(far)
    monkeypatch.setenv("THEORAX_SCALE", "1")
    yield claims
    for name in [name for name in sys.modules if name in ("far_away", "_models")]:
        del sys.modules[name]


def edit(folder: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if what == "variable":
        monkeypatch.setenv("THEORAX_SCALE", "2")
    elif what == "other variable":
        monkeypatch.setenv("THEORAX_OTHER", "2")
    elif what == "array":
        np.save(folder / "seed_1.npy", np.full(3, 9))
    elif what != "nothing":
        places = {
            "new file": folder / "seed_2.npy",
            "module": folder / "_models.py",
            "far module": folder.parent / "far" / "far_away.py",
            "far data": folder.parent / "far" / "numbers.txt",
            "override": folder / "override.json",
            "database": folder / "data.db",
        }
        places[what].write_text("value = 2\n", "utf-8")


def reading(folder: Path, lines: str) -> tuple[Path, dict[str, str]]:
    """A theorem's file with these lines, and its manifest after it was loaded."""
    file = folder / "reading.py"
    file.write_text(f"{HEAD}{lines}\n{STATED}", "utf-8")
    state = folder / "results"
    state.mkdir(exist_ok=True)
    with recorded_reads(str(state)) as recorder:
        load("reading", Catalogue.of([folder]))
    sources = Sources(deciding=())
    return file, sources.manifest(file, Settings()) | sources.observed(file, Settings(), recorder.found)


def differences(folder: Path, file: Path, before: dict[str, str]) -> list[str]:
    sources = Sources(deciding=())
    now = sources.manifest(file, Settings()) | sources.present(file, folder / "results", before)
    return [str(one) for one in manifest_differences(before, now)]


@pytest.mark.parametrize(("lines", "edited"), READING.values(), ids=list(READING))
def test_an_edit_of_what_was_read_is_seen(folder, monkeypatch, lines, edited):
    file, before = reading(folder, lines)
    if edited != "nothing":
        (folder / "results" / "results.sqlite").touch()
        (folder / "__pycache__").mkdir(exist_ok=True)
        assert differences(folder, file, before) == []
    edit(folder, edited, monkeypatch)
    assert differences(folder, file, before)


@pytest.mark.parametrize("lines", [lines for lines, edited in READING.values() if edited.startswith("far")])
def test_a_module_that_was_loaded_before_counts_as_well(folder, monkeypatch, lines):
    for edited in ("far data", "far module"):
        reading(folder, lines)
        file, before = reading(folder, lines)  # in one process, one check after another
        edit(folder, edited, monkeypatch)
        assert differences(folder, file, before)


NOT_COUNTED = {
    "what the check wrote": '(HERE / "cache.txt").write_text("a"); (HERE / "cache.txt").read_text()',
    "a cache that it made on the way": (
        'place = HERE / "cache.txt"\ntry:\n    place.read_text()\nexcept OSError:\n    place.write_text("a")'
    ),
    "a temporary file": (
        "import tempfile\nwith tempfile.TemporaryDirectory() as made:\n"
        '    (Path(made) / "a").write_text("b"); (Path(made) / "a").read_text(); list(Path(made).iterdir())'
    ),
    "a file of an installed package": "import click\nPath(click.__file__).read_text()",
    "a file of the system": 'Path("/proc/self/stat").read_text()',
    "a variable that it set": 'import os\nos.environ["THEORAX_OWN"] = "3"; os.environ["THEORAX_OWN"]',
    "a list of what is installed": "import importlib.metadata\nimportlib.metadata.entry_points()",
    "the same by the package that takes its place": (
        "try:\n    import importlib_metadata as found\nexcept ImportError:\n    import importlib.metadata as found\n"
        "found.entry_points()"
    ),
    "a search for modules": "import pkgutil\nlist(pkgutil.iter_modules([str(HERE)]))",
}


@pytest.mark.parametrize("lines", NOT_COUNTED.values(), ids=list(NOT_COUNTED))
def test_what_does_not_count_makes_no_entry(folder, lines, monkeypatch):
    monkeypatch.delenv("THEORAX_OWN", raising=False)
    # All loaded modules count, and other tests of this process have loaded some.
    loaded = {
        Path(file).resolve() for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))
    }
    _, found = reading(folder, lines)
    own = [name for name in observed_entries(found) if (folder / name.partition(" ")[2]).resolve() not in loaded]
    assert own == []
    os.environ.pop("THEORAX_OWN", None)


def test_a_folder_that_the_check_writes_into_is_as_the_check_left_it(folder):
    file, before = reading(folder, 'sorted(HERE.iterdir())\n(HERE / "made.txt").write_text("a")')
    assert differences(folder, file, before) == []
    (folder / "other.txt").touch()
    assert differences(folder, file, before) == ["folder .: changed"]


def test_the_environment_is_the_same_afterwards():
    before = os.environ
    with recorded_reads("."):
        assert os.environ is not before
        assert dict(os.environ) == dict(before)
        assert os.environ | {"A": "b"} == dict(before) | {"A": "b"}
    assert os.environ is before
