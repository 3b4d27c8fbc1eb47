"""Who imports whom: what only one paper measures with stands in that paper's folder, not in `numerics`."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import theorax

PACKAGE = Path(theorax.__file__).parent


def module_of(file: Path, package: Path) -> str:
    """The dotted name under which a file of the package is imported."""
    return ".".join((package.name, *file.relative_to(package).with_suffix("").parts)).removesuffix(".__init__")


def imported(file: Path) -> set[str]:
    """Every dotted name that a file imports anywhere in it; a name taken from a module may be a module itself."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"{file} imports relatively: imports are written in full."
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_only_the_command_about_tables_reads_them_with_polars():
    users = {module_of(file, PACKAGE) for file in PACKAGE.rglob("*.py") if "polars" in imported(file)}
    assert users == {"theorax.cli.tables"}
    readers = {name for name in importers(PACKAGE)["theorax.cli.tables"] if not name.startswith("theorax.cli.")}
    assert not readers


def test_the_engine_does_without_the_statistics_of_scipy():
    """They take a quarter of the time in which all of the engine is imported; what it imports may not load them either."""
    assert not {file for file in PACKAGE.rglob("*.py") if any("scipy.stats" in name for name in scipy_names(file))}
    program = "import sys, theorax.runs.checking; print('jax' in sys.modules, 'scipy.stats' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == ["True", "False"]


def scipy_names(file: Path) -> set[str]:
    """The names that a file imports from SciPy itself, not from the JAX module of the same name."""
    return {name for name in imported(file) if name.startswith("scipy.")}


def importers(package: Path) -> Mapping[str, set[str]]:
    """Of each module of the package, the modules that import it."""
    files = {module_of(file, package): file for file in sorted(package.rglob("*.py"))}
    found = defaultdict(set)
    for name, file in files.items():
        for used in imported(file) & files.keys() - {name}:
            found[used].add(name)
    return {name: found[name] for name in files}


def folders_of_theorems(users: set[str], package: str) -> set[str]:
    """The folders below `theorems` (papers, or the instruments that papers share) from which a module is imported."""
    below = f"{package}.theorems."
    return {name.removeprefix(below).split(".")[0] for name in users if name.startswith(below)}


def belongs_to_a_paper(package: Path) -> list[str]:
    """The modules of `numerics` that neither the engine nor two folders of theorems import, directly or through others.

    A folder's `__init__` counts as a module: what `numerics.arithmetics` hands on is used where it is.
    """
    users = {name: using for name, using in importers(package).items() if name.startswith(f"{package.name}.numerics.")}
    shared = set[str]()
    while True:
        more = {
            name
            for name, using in users.items()
            if name not in shared
            and (
                len(folders_of_theorems(using, package.name)) > 1
                or any(
                    not other.startswith((f"{package.name}.theorems", f"{package.name}.numerics")) for other in using
                )
                or using & shared
            )
        }
        if not more:
            return sorted(users.keys() - shared)
        shared |= more


def test_numerics_holds_what_the_engine_or_two_folders_of_theorems_use():
    assert belongs_to_a_paper(PACKAGE) == []


FILES = {
    "numerics/__init__.py": "",
    "numerics/sampler.py": "import pack.numerics.keys\n",
    "numerics/keys.py": "",
    "numerics/flows.py": "",
    "numerics/spectra.py": "from pack.numerics import lanczos\n",
    "numerics/lanczos.py": "",
    "verifiers/draws.py": "from pack.numerics.sampler import draw\n",
    "theorems/one/edge.py": "from pack.numerics.flows import flow\nfrom pack.numerics import spectra\n",
    "theorems/one/_model.py": "from pack.numerics.spectra import top\n",
    "theorems/two/gap.py": "from pack.numerics import flows\n",
}


def test_what_one_paper_alone_uses_is_found_with_what_only_that_uses(tmp_path):
    for place, text in FILES.items():
        (tmp_path / "pack" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pack" / place).write_text(text, encoding="utf-8")
    assert belongs_to_a_paper(tmp_path / "pack") == ["pack.numerics.lanczos", "pack.numerics.spectra"]


ROOMS = ("runs", "reports", "cli", "testing")


def test_the_upper_rooms_import_in_no_circle():
    import networkx

    graph = networkx.DiGraph((user, name) for name, users in importers(PACKAGE).items() for user in users)
    below = tuple(f"{PACKAGE.name}.{room}." for room in ROOMS)
    part = graph.subgraph(name for name in graph if name.startswith(below))
    assert len(part) > 40
    assert [circle for circle in networkx.strongly_connected_components(part) if len(circle) > 1] == []
