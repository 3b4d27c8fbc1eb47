"""Everything that determines a result, as a manifest of named digests; the store keeps the result under its digest.

The manifest names the theorem, its file and everything that it and the deciding code import inside the package, found in
the text without importing; the settings; the versions of the libraries that compute; the kind of machine; and the files
of a user's model. The theorem's id is its own entry, because its seeds are made of it: a file that was copied says the
same and draws other numbers. Sources are normalised: neither comments, layout nor docstrings enter, so that editing those keeps
results.
"""

from __future__ import annotations

import ast
import hashlib
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from theorax.errors import UsageError, option
from theorax.names import did_you_mean
from theorax.verifiers.settings import Settings

_MODEL = option("model")

PACKAGE = Path(__file__).parents[1]
DECIDING = ("runs/checking.py", "verifiers/kinds/*.py")  # found by folder: kinds may be looked up by name
LIBRARIES = (
    "sympy", "jax", "jaxlib", "equinox", "diffrax", "numpy", "scipy", "cvxpy", "clarabel", "python-flint"
)  # fmt: skip

Manifest = Mapping[str, str]


@dataclass(frozen=True)
class Sources:
    """Reads each file once, and looks once for what it imports; ``root`` is the package whose imports are followed."""

    root: Path = PACKAGE
    deciding: tuple[str, ...] = DECIDING
    _read: dict[Path, tuple[str, tuple[Path, ...]]] = field(default_factory=dict, repr=False, compare=False)

    def manifest(self, theorem: Path, settings: Settings) -> dict[str, str]:
        """Everything that determines the result of checking the theorem in this file.

        **Raises:** UsageError if the model's file is missing or does not define its factory.
        """
        parts = {"id": theorem.stem, "theorem": self._digest(theorem, keep_docstrings=True)}
        deciding = [path for pattern in self.deciding for path in self.root.glob(pattern)]
        for path in self.closure([theorem, *deciding]):
            if path != theorem:
                parts[f"source {_shown(path, self.root)}"] = self._digest(path)
        names = ("effort", "seed", "device", "level", "at", "sizes", "model", "nightly")
        parts |= {f"setting {name}": repr(value) for name, value in zip(names, settings.key, strict=True)}
        parts |= {f"version of {name}": version(name) for name in LIBRARIES}
        parts["version of python"] = platform.python_version()
        parts["machine"] = f"{platform.system()} {platform.machine()}"
        if settings.model is not None:
            file = model_file(settings.model)
            for path in sorted(neighbours(file)):
                parts[f"model file {path.name}"] = self._digest(path)
        return parts

    def closure(self, start: Iterable[Path]) -> list[Path]:
        """The files that these import inside the package, directly or not, themselves included."""
        waiting = list(start)
        seen: set[Path] = set()
        while waiting:
            path = waiting.pop()
            if path in seen:
                continue
            seen.add(path)
            waiting.extend(self._parsed(path)[1])
        return sorted(seen)

    def _digest(self, path: Path, *, keep_docstrings: bool = False) -> str:
        if keep_docstrings:
            return _digest(normalised(path, keep_docstrings=True))
        return self._parsed(path)[0]

    def _parsed(self, path: Path) -> tuple[str, tuple[Path, ...]]:
        if path not in self._read:
            found = {file for name in _imports(path, self.root) if (file := self._file(name)) is not None}
            self._read[path] = (_digest(normalised(path)), tuple(found))
        return self._read[path]

    def _file(self, module: str) -> Path | None:
        """The file of a module of the package; the package itself only hands on names, so it is none."""
        first, *rest = module.split(".")
        if first != self.root.name or not rest:
            return None
        path = self.root.joinpath(*rest)
        for candidate in (path.with_suffix(".py"), path / "__init__.py"):
            if candidate.is_file():
                return candidate
        return None


def key(manifest: Manifest) -> str:
    """The key of a result: the digest of everything that determines it."""
    return _digest("\n".join(f"{name}={manifest[name]}" for name in sorted(manifest)))


def differences(old: Manifest, new: Manifest) -> tuple[str, ...]:
    """The names of what changed between two manifests, as a reader is told them.

    >>> differences({"setting seed": "0", "theorem": "a"}, {"setting seed": "1", "theorem": "a"})
    ('setting seed: 0 -> 1',)
    """
    found = []
    for name in sorted({*old, *new}):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        if before is None:
            found.append(f"{name}: new")
        elif after is None:
            found.append(f"{name}: gone")
        elif name.startswith(("setting", "version", "machine")):
            found.append(f"{name}: {before} -> {after}")
        else:
            found.append(f"{name}: changed")
    return tuple(found)


def version(distribution: str) -> str:
    """The installed version of a distribution, read without importing it; ``absent`` if there is none."""
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "absent"


def normalised(path: Path, *, keep_docstrings: bool = False) -> str:
    """The meaning of a source file: its syntax tree without positions and docstrings.

    ``keep_docstrings`` keeps all but the module's own: a theorem's proofs state their scope there. A file that Python
    cannot read stands for itself.
    """
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return path.read_text(encoding="utf-8", errors="replace")
    bodies = [tree] if keep_docstrings else list(ast.walk(tree))
    for node in bodies:
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:]
    return ast.dump(tree)


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


def neighbours(file: Path) -> frozenset[Path]:
    """A user's file and the files of its folder that it imports, directly or not."""
    seen: set[Path] = set()
    waiting = [file]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            found = (file.parent / f"{name.split('.')[0]}.py" for name in _imports(path, file.parent))
            waiting.extend(candidate for candidate in found if candidate.is_file())
    return frozenset(seen)


def _module_file(module: str) -> Path | None:
    """File of a module; only its outermost package is looked up, which imports nothing."""
    from importlib.util import find_spec

    first, *rest = module.split(".")
    if not all(part.isidentifier() for part in (first, *rest)):
        return None
    spec = find_spec(first)
    if spec is None or spec.origin is None:
        return None
    if not rest:
        return Path(spec.origin)
    inside = Path(spec.origin).parent.joinpath(*rest)
    return next((path for path in (inside.with_suffix(".py"), inside / "__init__.py") if path.is_file()), None)


def _imports(path: Path, root: Path) -> list[str]:
    """The dotted names that a file imports anywhere; for ``from a import b`` both ``a`` and ``a.b``."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return []
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
    # Importing a.b.c runs a/__init__ and a/b/__init__ too.
    return [".".join(parts[: n + 1]) for parts in (name.split(".") for name in found) for n in range(len(parts))]


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


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _shown(path: Path, root: Path) -> str:
    return f"{root.name}/{path.relative_to(root)}" if path.is_relative_to(root) else path.name
