"""Roots: the folders of theorem files that a command reads, found without importing anything.

A file directly in a root belongs to the paper named after the root's folder, a file in a subfolder to the paper named
after the subfolder. A file holds a theorem if a line at its left edge begins with ``theorem =``; a name that starts
with an underscore or a dot is a helper's. Roots add up: none hides another.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from theorax.errors import UsageError, option
from theorax.names import did_you_mean
from theorax.project import Project

GROUP = "theorax.theorems"  # of entry points
LIBRARY = Path(__file__).parent
OWN = "own"  # all roots but the library

_ROOT = option("root")
_STATED = re.compile(rb"^theorem[ \t]*(:[^=\n]*)?=(?!=)", re.MULTILINE)

Kind = Literal["library", "installed", "project", "added"]


@dataclass(frozen=True)
class Root:
    """A folder of theorem files. ``given``: as it was typed; ``by_path``: added for a path in a selector."""

    name: str
    kind: Kind
    folder: Path
    given: str = ""
    distribution: str = ""
    version: str = ""
    by_path: bool = False

    @property
    def is_own(self) -> bool:
        """True if the theorems are those of the project or of the command, neither the library's nor installed."""
        return self.kind in ("project", "added")

    @property
    def shown(self) -> str:
        """The folder as a reader knows it: as typed, else by its last name."""
        return self.given or self.folder.name

    @property
    def recorded(self) -> str:
        """The folder as a report names it: from the project's folder, or by its last names."""
        if self.kind == "project":
            return self.given
        return "/".join(LIBRARY.parts[-2:]) if self.folder == LIBRARY else self.folder.name

    def files(self) -> Iterator[Path]:
        """The theorem files, paper by paper.

        **Raises:** UsageError if the folder cannot be read.
        """
        # The package's own folder holds modules of the engine; its papers are its subfolders.
        if self.folder != LIBRARY:
            yield from _theorems(self.folder)
        for folder in sorted(_listed(self.folder)):
            if folder.name.startswith(("_", ".")) or not folder.is_dir():
                continue
            yield from _theorems(folder)

    def __contains__(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self.folder.resolve())


@dataclass(frozen=True)
class Origin:
    """The root of a theorem and its file in it, as a report names them; nothing tells a folder outside the root."""

    name: str
    kind: Kind
    folder: str
    file: str
    distribution: str = ""
    version: str = ""

    @classmethod
    def of(cls, root: Root, path: Path) -> Origin:
        """The origin of the theorem in this file."""
        file = path.relative_to(root.folder).as_posix()
        return cls(root.name, root.kind, root.recorded, file, root.distribution, root.version)


def roots(project: Project, added: Iterable[str | Path] = (), library: Path = LIBRARY) -> tuple[Root, ...]:
    """Every root: the library, the installed, those of the project, and ``added`` ones, relative to the present folder.

    A folder that is named twice is one root; what the project names itself is the project's, installed or not.

    **Raises:** UsageError if a folder does not exist or is none, or an entry point leads to none.
    """
    found = [Root("library", "library", library), *_installed()]
    for text in project.theorems:
        where = f"`theorems` in `[tool.theorax]` of {project.root / 'pyproject.toml'}"
        found.append(_root("project", text, project.root, where, "Make it, or correct the list."))
    for folder in added:
        found.append(_root("added", os.fspath(folder), Path.cwd(), f"`{_ROOT} {folder}`", f"Write `{_ROOT} claims`."))
    places: dict[Path, Root] = {}
    for root in found:
        place = root.folder.resolve()
        if place not in places or places[place].kind == "installed":
            places[place] = root
    return named_apart(places.values())


def named_apart(roots: Iterable[Root]) -> tuple[Root, ...]:
    """Roots whose names a selector can tell apart; those of the project are one."""
    found: list[Root] = []
    for root in roots:
        plain = name = re.sub(r"[^\w.-]", "-", root.name)
        taken = {other.name for other in found if (other.name, other.kind) != ("project", root.kind)} | {OWN}
        number = 2
        while name in taken:
            name, number = f"{plain}-{number}", number + 1
        found.append(replace(root, name=name))
    return tuple(found)


def around(path: Path, given: str) -> Root:
    """The root for a path that lies in none: the folder itself, or the folder of the file."""
    folder = path if path.is_dir() else path.parent
    text = given if path.is_dir() else os.path.dirname(given)
    return Root(Path(os.path.abspath(folder)).name, "added", Path(os.path.abspath(folder)), text or ".", by_path=True)


def states(path: Path) -> bool:
    """True if the text of a file states a theorem; also if it cannot be read, so that the catalogue says why."""
    if not path.is_file():
        return False
    try:
        return _STATED.search(path.read_bytes()) is not None
    except OSError:
        return True


def _theorems(folder: Path) -> Iterator[Path]:
    for path in sorted(_listed(folder)):
        if path.suffix == ".py" and not path.name.startswith(("_", ".")) and states(path):
            yield path


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError as error:
        raise UsageError(
            f"The folder {folder} cannot be read ({error.strerror}), so its theorems are unknown. "
            "Give yourself the right to read it."
        ) from None


def _root(kind: Literal["project", "added"], text: str, base: Path, where: str, advice: str) -> Root:
    folder = Path(os.path.abspath(base / Path(text).expanduser()))
    if not text.strip() or not folder.is_dir():
        what = "is a file" if folder.is_file() else "does not exist"
        beside = [path.name for path in folder.parent.iterdir() if path.is_dir()] if folder.parent.is_dir() else []
        hint = did_you_mean(folder.name, beside) if what == "does not exist" else "."
        raise UsageError(f"{where}: a root is a folder of theorem files, and `{text}` {what}{hint} {advice}")
    return Root("project" if kind == "project" else folder.name, kind, folder, Path(text).as_posix())


def _installed() -> Iterator[Root]:
    """The roots that installed distributions name; their entry points are looked up by text, for few have any."""
    if not any(_names_group(folder) for folder in dict.fromkeys(sys.path)):
        return
    from importlib import metadata

    for point in sorted(metadata.entry_points(group=GROUP), key=lambda point: point.name):
        folder = _folder(point.value.partition(":")[0].strip())
        name, version = (point.dist.name, point.dist.version) if point.dist is not None else ("", "")
        if folder is None:
            raise UsageError(
                f"The distribution {name or 'that is installed here'} names the root `{point.name}` "
                f"({point.value}), and there is no such folder. Install it again, or remove it."
            )
        yield Root(point.name, "installed", folder, "", name, version)


def _names_group(folder: str) -> bool:
    try:
        with os.scandir(folder or ".") as entries:
            files = [
                f"{entry.path}/entry_points.txt"
                for entry in entries
                if entry.name.endswith((".dist-info", ".egg-info"))
            ]
    except OSError:
        return False
    for file in files:
        try:
            with open(file, "rb") as text:
                if GROUP.encode() in text.read():
                    return True
        except OSError:
            continue
    return False


def _folder(dotted: str) -> Path | None:
    """The folder of a package; only its outermost name is looked up, which imports nothing."""
    from importlib.util import find_spec

    first, *rest = dotted.split(".")
    try:
        spec = find_spec(first)
    except (ImportError, ValueError):
        return None
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        if (folder := Path(place).joinpath(*rest)).is_dir():
            return folder
    return None
