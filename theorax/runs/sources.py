"""Everything that determines a result, as a manifest of named digests; the store keeps the result under its digest.

The manifest names the theorem, its file and everything that it and the deciding code import inside the package, found in
the text without importing; the settings; the versions of the libraries that compute, and of those that a user's own files
import; the kind of machine; the files of a user's model; and the files that a user's own name in their text. After a check
it also names what the check was seen to read (:mod:`theorax.verifiers.reads`), by digests that a later run compares with
the files, folders and variables that it finds. The theorem's id is its own entry, because its seeds are made of it: a file
that was copied says the same and draws other numbers. Sources are normalised: neither comments, layout nor docstrings
enter, so that editing those keeps results.
"""

from __future__ import annotations

import ast
import hashlib
import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from theorax.runs.known_files import KnownFiles, SourceFile
from theorax.runs.manifests import ABSENT, EntrySort, Manifest, observed_entries, parted
from theorax.runs.own_files import PACKAGE, data_files, imports_of, installed, model_file, neighbours
from theorax.verifiers.reads import Reads, digest_of_file, digest_of_folder, digest_of_variable
from theorax.verifiers.settings import Settings

DECIDING = ("runs/checking.py", "verifiers/kinds/*.py")  # found by folder: kinds may be looked up by name
STARTED = "started"  # the entry of a program that a check started
LIBRARIES = (
    "sympy", "jax", "jaxlib", "equinox", "diffrax", "numpy", "scipy", "cvxpy", "clarabel", "python-flint"
)  # fmt: skip


@dataclass(frozen=True)
class Sources:
    """Reads each file once, and looks once for what it imports; ``root`` is the package whose imports are followed.

    ``known``: what files said in earlier runs.
    """

    root: Path = PACKAGE
    deciding: tuple[str, ...] = DECIDING
    known: KnownFiles = field(default_factory=KnownFiles, repr=False, compare=False)
    _read: dict[Path, tuple[str, tuple[Path, ...]]] = field(default_factory=dict, repr=False, compare=False)
    _files: dict[str, Path | None] = field(default_factory=dict, repr=False, compare=False)

    def beside(self, state: str) -> Sources:
        """These sources, which use what is kept in the folder of results about files that did not change."""
        if self.known.folder is None:
            self.known.folder = Path(state)
        return self

    @property
    def afresh(self) -> Sources:
        """The same sources, looked at again."""
        return Sources(self.root, self.deciding, self.known)

    def manifest(self, theorem: Path, settings: Settings) -> dict[str, str]:
        """Everything that determines the result of checking the theorem in this file.

        **Raises:** UsageError if the model's file is missing or does not define its factory.
        """
        file, model, version_of = EntrySort.SOURCE.entry, EntrySort.MODEL.entry, EntrySort.VERSION.entry
        parts = {
            EntrySort.ID.entry(): theorem.stem,
            EntrySort.THEOREM.entry(): self._digest(theorem, keep_docstrings=True),
        }
        deciding = [path for pattern in self.deciding for path in self.root.glob(pattern)]
        for path in self.closure([theorem, *deciding]):
            if path != theorem:
                parts[file(_shown(path, self.root))] = self._digest(path)
        own: set[Path] = set()
        if not theorem.is_relative_to(self.root):
            for name, path in neighbours(theorem).items():
                own.add(path)
                for inside in self.closure([path]):  # of the package, what a neighbour imports of it
                    if inside not in (path, theorem):
                        parts[file(_shown(inside, self.root))] = self._digest(inside)
                if path != theorem:
                    parts[file(name)] = self._digest(path)
            parts |= {file(name): digest_of_file(path) for name, path in data_files(own).items() if path not in own}
        parts |= {EntrySort.SETTING.entry(name): repr(value) for name, value in settings.determining.items()}
        parts |= {version_of(name): version(name) for name in LIBRARIES}
        parts[version_of("python")] = platform.python_version()
        parts[EntrySort.MACHINE.entry()] = f"{platform.system()} {platform.machine()}"
        if settings.model is not None:
            modeled = neighbours(model_file(settings.model))
            for name, path in modeled.items():
                own.add(path)
                parts[model(name)] = self._digest(path)
            named = data_files(modeled.values()).items()
            parts |= {model(name): digest_of_file(path) for name, path in named if path not in own}
        parts |= {version_of(name): version(name) for name in installed(own, LIBRARIES)}
        return parts

    def observed(self, theorem: Path, settings: Settings, reads: Reads) -> dict[str, str]:
        """The entries of what a check was seen to read, besides the files that its own manifest names.

        Paths are relative to the theorem's folder.
        """
        starts = [theorem, *([model_file(settings.model)] if settings.model is not None else [])]
        near = {path for start in starts for path in neighbours(start).values()}
        known = {str(path.absolute()) for path in (*near, *data_files(near).values(), theorem)}
        files = {**dict.fromkeys(reads.modules, ""), **reads.files}
        found = {
            EntrySort.READ.entry(_from(theorem.parent, path)): digest or self._digest_now(Path(path))
            for path, digest in files.items()
            if path not in known
        }
        found |= {EntrySort.FOLDER.entry(_from(theorem.parent, path)): of for path, of in reads.folders.items()}
        found |= {EntrySort.VARIABLE.entry(name): digest for name, digest in reads.variables.items()}
        return found | {EntrySort.PROGRAM.entry(name): STARTED for name in reads.programs}

    def present(self, theorem: Path, state: str | Path, manifest: Manifest) -> dict[str, str]:
        """The present state of the entries that a check was seen to read.

        A program never says the same again: nobody knows what it read.
        """
        found = {}
        for name in observed_entries(manifest):
            sort, of = parted(name)
            place = theorem.parent / of
            if sort is EntrySort.READ:
                found[name] = self._digest_now(place)
            elif sort is EntrySort.FOLDER:
                found[name] = digest_of_folder(place, state)
            else:
                found[name] = digest_of_variable(of) if sort is EntrySort.VARIABLE else ABSENT
        return found

    def _digest_now(self, path: Path) -> str:
        """The digest of a file's meaning if it is Python, otherwise of its bytes."""
        if path.suffix != ".py":
            return digest_of_file(path)
        return self._digest(path) if path.is_file() else ABSENT

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
            return self.known.of(path, _with_docstrings, " with docstrings").digest
        return self._parsed(path)[0]

    def _source_file(self, path: Path) -> SourceFile:
        content = _content(path)
        found = [] if isinstance(content, str) else imports_of(content, path, self.root)
        names = dict.fromkeys(name for name in found if name.startswith(f"{self.root.name}."))
        return SourceFile(_digest(_written(content)), tuple(names))

    def _parsed(self, path: Path) -> tuple[str, tuple[Path, ...]]:
        if path not in self._read:
            said = self.known.of(path, self._source_file)
            found = {file for name in said.imports if (file := self._file(name)) is not None}
            self._read[path] = (said.digest, tuple(found))
        return self._read[path]

    def _file(self, module: str) -> Path | None:
        """The file of a module of the package; the package itself only hands on names, so it is none."""
        if module not in self._files:
            path = self.root.joinpath(*module.split(".")[1:])
            candidates = (path.with_suffix(".py"), path / "__init__.py")
            self._files[module] = next((candidate for candidate in candidates if candidate.is_file()), None)
        return self._files[module]


def drawn_from(theorem: Path, model: str | None) -> str:
    """The digest of the files in which an author or a user says what is drawn: the theorem's, its paper's, the model's.

    The library below them is left out: it changes with every version, and nobody searches by changing it.

    **Raises:** UsageError if the model's file is missing or does not define its factory.
    """
    files = [theorem, *sorted(theorem.parent.glob("_*.py"))]
    if model is not None:
        files += sorted(neighbours(model_file(model)).values())
    return _digest("\n".join(map(normalised, files)))[:16]


@cache
def version(distribution: str) -> str:
    """The installed version of a distribution, read without importing it; ``absent`` if there is none."""
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ABSENT


_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def normalised(path: Path, *, keep_docstrings: bool = False) -> str:
    """The meaning of a source file: its syntax tree without positions and docstrings.

    ``keep_docstrings`` keeps all but the module's own: a theorem's proofs state their scope there. A file that Python
    cannot read stands for itself. No version of Python has a say in the text, so that results of two may be compared.
    """
    return _written(_content(path), (ast.Module,) if keep_docstrings else _DOCUMENTED)


def _is_documented(part: ast.AST) -> bool:
    return isinstance(part, _DOCUMENTED) and bool(ast.get_docstring(part, clean=False))


def _content(path: Path) -> ast.Module | str:
    """The syntax tree of a file; its text if Python cannot read it."""
    try:
        return ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return path.read_text(encoding="utf-8", errors="replace")


def _with_docstrings(path: Path) -> SourceFile:
    return SourceFile(_digest(normalised(path, keep_docstrings=True)), ())


def _written(content: ast.Module | str, without: tuple[type[ast.AST], ...] = _DOCUMENTED) -> str:
    """A syntax tree in prefix notation, docstrings of these left out; a text as it is.

    Empty fields and empty texts in f-strings are left out: versions differ in them. A long sum is a deep tree, so that no
    call stands for a branch.
    """
    if isinstance(content, str):
        return content
    text: list[str] = []
    waiting: list[Any] = [content]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.AST):
            values: list[Any] = []
            names: list[str] = []
            for name in part._fields:
                value: Any = getattr(part, name, None)
                if name == "body" and isinstance(part, without) and _is_documented(part):
                    value = value[1:]
                elif isinstance(part, ast.JoinedStr):
                    value = [one for one in value if not isinstance(one, ast.Constant) or one.value]
                if value is not None and value != []:
                    names.append(name)
                    values.append(value)
            text.append(f"{type(part).__name__}({','.join(names)})")
            values.reverse()
            waiting += values
        elif isinstance(part, list):
            text.append(f"[{len(part)}]")
            waiting += reversed(part)
        else:
            text.append(ascii(part))
    return " ".join(text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _from(folder: Path, path: str) -> str:
    """The path of a file from this folder; as it is where there is none, as on another drive."""
    try:
        return Path(os.path.relpath(path, folder.absolute())).as_posix()
    except ValueError:
        return path


def _shown(path: Path, root: Path) -> str:
    return f"{root.name}/{path.relative_to(root)}" if path.is_relative_to(root) else path.name
