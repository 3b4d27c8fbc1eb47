"""Files of a user's own that determine a result: a model's, and the modules that they or a theorem's file import.

They are found in the text without importing anything.
"""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from theorax.errors import UsageError, option
from theorax.names import did_you_mean

_MODEL = option("model")
PACKAGE = Path(__file__).parents[1]
LONGEST_NAME = 255  # characters of a string that may name a file


def model_file(model: str) -> Path:
    """The file of ``--model FILE.py:FACTORY`` or ``--model PACKAGE.MODULE:FACTORY``, found without importing it.

    **Raises:** UsageError if the text has another form, the file is missing, or it does not define the factory.
    """
    place, colon, factory = model.rpartition(":")
    example = f"Write it as FILE.py:FACTORY, such as `{_MODEL} layer.py:attention`."
    if not colon or not place or not factory.isidentifier():
        raise UsageError(f"`{_MODEL} {model}` does not say which function builds the model. {example}")
    path = Path(place) if place.endswith(".py") else _module_file(place)
    if path is None or not path.is_file():
        raise UsageError(
            f"`{_MODEL} {model}`: there is no {'file' if place.endswith('.py') else 'module'} `{place}`. {example}"
        )
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError) as error:
        line = f", line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else f": {error}"
        raise UsageError(f"`{_MODEL} {model}`: Python cannot read {place}{line}.") from None
    defined = {name for node in tree.body for name in _defined(node)}
    if factory not in defined and "*" not in defined:
        hint = did_you_mean(factory, defined)
        raise UsageError(f"`{_MODEL} {model}`: {place} defines no `{factory}`{hint} {example}")
    return path


def neighbours(file: Path) -> dict[str, Path]:
    """A user's file and the modules of the user's own that it imports, directly or not, by a name without their folder.

    A user's own are the modules of the file's folder and those that are found outside the folders of installed
    packages, or in the installed package that the file itself is a part of. They are found without importing any.
    """
    found: dict[str, Path] = {}
    waiting = [(file.name, file, file.parent)]
    while waiting:
        name, path, package = waiting.pop()
        if path in found.values():
            continue
        found[name] = path
        for module in imports(path, package):
            first = module.partition(".")[0]
            if (place := _beside(module, file.parent)) is not None:
                waiting.append((place.relative_to(file.parent).as_posix(), place, file.parent / first))
            elif (place := _own_module(module, file)) is not None:
                top = next((above for above in place.parents if above.name == first), place.parent)
                waiting.append((f"{module.replace('.', '/')}.py", place, top))
    return dict(sorted(found.items()))


def data_files(files: Iterable[Path]) -> dict[str, Path]:
    """Files that these files of a user's own name in their text, by a path from their own folder.

    A name that the text puts together is not seen.
    """
    found: dict[str, Path] = {}
    for file in files:
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError):
            continue
        strings = {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        for name in strings:
            if (place := _named(file.parent, name)) is not None:
                found[name] = place
    return dict(sorted(found.items()))


def _named(folder: Path, name: str) -> Path | None:
    """The file of this name in the folder; None if there is none."""
    if not 0 < len(name) <= LONGEST_NAME or "\n" in name or "\0" in name:
        return None
    with suppress(OSError):
        if (path := folder / name).is_file():
            return path
    return None


def installed(files: Collection[Path], libraries: Collection[str]) -> frozenset[str]:
    """The installed distributions that these files of a user's own import, besides theorax and ``libraries``."""
    modules = {name.partition(".")[0] for path in files for name in imports(path, path.parent)}
    modules -= {*sys.stdlib_module_names, PACKAGE.name, *libraries, ""}
    modules = {name for name in modules if name.isidentifier() and name not in {path.stem for path in files}}
    if not modules:
        return frozenset()
    from importlib.metadata import packages_distributions

    known = packages_distributions()
    return frozenset(distribution for name in modules for distribution in known.get(name, ())) - {*libraries}


def _beside(module: str, folder: Path) -> Path | None:
    """The file of a module in this folder, or in a package in it."""
    path = folder.joinpath(*module.split("."))
    return next((place for place in (path.with_suffix(".py"), path / "__init__.py") if place.is_file()), None)


def _own_module(module: str, file: Path) -> Path | None:
    """The file of a module that is a user's own, found outside the folder of ``file``."""
    first = module.partition(".")[0]
    if first in sys.stdlib_module_names or first == PACKAGE.name:
        return None
    path = _module_file(module)
    if path is None or path.suffix != ".py":
        return None
    for name in ("purelib", "platlib", "stdlib"):
        folder = Path(sysconfig.get_path(name))
        if path.is_relative_to(folder):
            own = file.is_relative_to(folder) and file.relative_to(folder).parts[0] == first
            return path if own else None
    return path


def _module_file(module: str) -> Path | None:
    """File of a module; only its outermost package is looked up, which imports nothing."""
    from importlib.util import find_spec

    first, *rest = module.split(".")
    if not all(part.isidentifier() for part in (first, *rest)):
        return None
    spec = find_spec(first)
    if spec is None:
        return None
    if not rest:
        return Path(spec.origin) if spec.origin is not None else None
    # A folder without __init__.py is a package too, of no file and perhaps in several places.
    folders = (
        [Path(spec.origin).parent] if spec.origin is not None else map(Path, spec.submodule_search_locations or ())
    )
    inside = [folder.joinpath(*rest) for folder in folders]
    places = (place for path in inside for place in (path.with_suffix(".py"), path / "__init__.py"))
    return next((place for place in places if place.is_file()), None)


def imports(path: Path, root: Path) -> list[str]:
    """The dotted names that a file imports anywhere; for ``from a import b`` both ``a`` and ``a.b``."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return []
    return imports_of(tree, path, root)


def imports_of(tree: ast.AST, path: Path, root: Path) -> list[str]:
    """The dotted names that the syntax tree of a file imports, as `imports` returns them."""
    inside = path.is_relative_to(root)
    package = (root.name, *path.relative_to(root).parent.parts) if inside else ()
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *((node.module,) if node.module else ())])
            found.extend([base, *(f"{base}.{alias.name}" for alias in node.names)])
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
            given = [part.value for part in node.args[:1] if isinstance(part, ast.Constant)]
            found.extend(name for name in given if isinstance(name, str) and _is_name(name))
    # Importing a.b.c runs a/__init__ and a/b/__init__ too.
    return [".".join(parts[: n + 1]) for parts in (name.split(".") for name in found) for n in range(len(parts))]


def _called(call: ast.Call) -> str:
    """The last name of what is called."""
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _is_name(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    if isinstance(node, (ast.If, ast.Try, ast.With)):
        return [name for child in node.body for name in _defined(child)]
    return []
