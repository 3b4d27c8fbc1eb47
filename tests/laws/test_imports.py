"""Who imports whom: a paper owns its models, `numerics` serves several papers or the engine, and cycles are few."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import networkx

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


def papers_of(modules: Iterable[str], package: str) -> set[str]:
    """The papers that these modules belong to. An instrument measures the model of a paper and is not a paper itself."""
    below = f"{package}.theorems."
    folders = {name.removeprefix(below).partition(".") for name in modules if name.startswith(below)}
    return {folder for folder, dot, _ in folders if dot} - {"instruments"}


def belongs_to_a_paper(package: Path) -> list[str]:
    """The modules of `numerics` that neither the engine nor two papers import, directly or through others.

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
                len(papers_of(using, package.name)) > 1
                or any(
                    not other.startswith((f"{package.name}.theorems", f"{package.name}.numerics")) for other in using
                )
                or using & shared
            )
        }
        if not more:
            return sorted(users.keys() - shared)
        shared |= more


def test_numerics_holds_what_the_engine_or_two_papers_use():
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
    "theorems/instruments/top_value.py": "from pack.numerics import spectra\n",
}


def test_what_one_paper_alone_uses_is_found_with_what_only_that_uses(tmp_path):
    for place, text in FILES.items():
        (tmp_path / "pack" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pack" / place).write_text(text, encoding="utf-8")
    assert belongs_to_a_paper(tmp_path / "pack") == ["pack.numerics.lanczos", "pack.numerics.spectra"]


def imported_modules(file: Path, modules: Collection[str]) -> set[str]:
    """The ones of these modules that a file imports, at the top, in a function or for types alone.

    ``from package import module`` imports the module. The folder that it lies in is not counted as well: every import
    of a module passes through its folder.
    """
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= {name if name in modules else node.module for name in inside}
    return found & set(modules)


def import_graph(package: Path) -> networkx.DiGraph:
    """Every file of the package, with an edge to each file that it imports."""
    files = {module_of(file, package): file for file in sorted(package.rglob("*.py"))}
    graph = networkx.DiGraph()
    graph.add_nodes_from(files)
    graph.add_edges_from((name, used) for name in files for used in imported_modules(files[name], files) - {name})
    return graph


def cycles(graph: networkx.DiGraph) -> list[set[str]]:
    """The groups of files that import each other, directly or through others."""
    return [group for group in networkx.strongly_connected_components(graph) if len(group) > 1]


MOST_CYCLES = 2
"""A verdict prints itself by the text of verdicts; a loop is a primitive, and runs the interpreter of primitives."""


def test_files_import_in_at_most_two_cycles_and_each_stays_in_one_folder():
    found = cycles(import_graph(PACKAGE))
    assert len(found) <= MOST_CYCLES, found
    assert [group for group in found if len({name.rpartition(".")[0] for name in group}) > 1] == []


ROOMS = ("runs", "reports", "cli", "testing")


def test_the_upper_rooms_import_in_no_cycle():
    graph = networkx.DiGraph((user, name) for name, users in importers(PACKAGE).items() for user in users)
    below = tuple(f"{PACKAGE.name}.{room}." for room in ROOMS)
    part = graph.subgraph(name for name in graph if name.startswith(below))
    assert len(part) > 40
    assert cycles(part) == []


def test_a_cycle_through_a_function_and_a_type_is_found(tmp_path):
    files = {
        "__init__.py": "from pack.one import a\n",
        "one.py": "from pack import two\n",
        "two.py": "def f():\n    from pack.three import g\n",
        "three.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pack.one import A\n",
        "four.py": "from pack import one, two\n",
    }
    (tmp_path / "pack").mkdir()
    for place, text in files.items():
        (tmp_path / "pack" / place).write_text(text, encoding="utf-8")
    assert cycles(import_graph(tmp_path / "pack")) == [{"pack.one", "pack.two", "pack.three"}]


def test_an_instrument_knows_the_models_of_one_paper_at_most():
    graph, theorems = import_graph(PACKAGE), f"{PACKAGE.name}.theorems."
    imports = {name: set(graph[name]) for name in graph if name.startswith(f"{theorems}instruments.")}
    known = {name: papers_of(used, PACKAGE.name) for name, used in imports.items()}
    assert any(known.values())
    assert {name: papers for name, papers in known.items() if len(papers) > 1} == {}
    used = {name for names in imports.values() for name in names if name.startswith(theorems)}
    assert {name for name in used if not name.rpartition(".")[2].startswith("_")} == set()
