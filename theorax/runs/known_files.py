"""Contents of source files, kept beside the results, so that only changed files are parsed again.

A file counts as unchanged if its size, its times of change (of content and of inode, in nanoseconds), its inode and its
device are those that were kept. A user cannot set the time of the inode. A file that changed within the last two seconds
is not kept: a second change in one tick of the clock would leave all of these as they are. What was kept by another
Python or by other code of this package is not used, and neither is a file of it that was altered.

Contents of the package's own files are also kept where Python keeps their bytecode, for all folders of results: a new one
would read 250 files again. Where Python may not write there, neither does this.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import cache_from_source
from pathlib import Path

from theorax.runs.own_files import PACKAGE

FILE = "sources.json"
SETTLED = 2_000_000_000
"""Nanoseconds; the coarsest clock of a file system in use, FAT, ticks every two seconds."""

Stamp = tuple[int, ...]


@dataclass(frozen=True)
class SourceFile:
    """The digest of what a file says, and the modules that it imports."""

    digest: str
    imports: tuple[str, ...]


Entries = dict[str, tuple[Stamp, SourceFile]]


@dataclass
class KnownFiles:
    """Source files by their path, as they were when they had the stamp beside them; kept in ``folder``, if there is one.

    ``package``: whose files are kept beside their bytecode as well.
    """

    folder: Path | None = None
    package: Path = PACKAGE
    _entries: Entries | None = field(default=None, repr=False)
    _packaged: Entries = field(default_factory=dict, repr=False)
    _changed: bool = field(default=False, repr=False)

    def of(self, path: Path, read: Callable[[Path], SourceFile], reading: str = "") -> SourceFile:
        """Contents of the file: as they are kept, or as ``read`` finds them now; ``reading`` tells two ways to read apart.

        **Raises:** what ``read`` raises.
        """
        if self._entries is None:
            self._packaged = _read(_bytecode(self.package))
            self._entries = self._packaged | _read(self.folder)
        before, place = _stamp(path), f"{path.absolute()}{reading}"
        kept = self._entries.get(place)
        if kept is not None and before is not None and kept[0] == before:
            return kept[1]
        found = read(path)
        if before is not None and _stamp(path) == before and time.time_ns() - max(before[1:3]) > SETTLED:
            self._entries[place] = before, found
            self._changed = True
        return found

    def save(self) -> None:
        """Write what was found, where the folders are there; otherwise files are read anew."""
        entries = self._entries or {}
        own = {place: entry for place, entry in entries.items() if Path(place).is_relative_to(self.package.absolute())}
        bytecode = None if sys.dont_write_bytecode else _bytecode(self.package)
        if own != self._packaged and _write(bytecode, own):
            self._packaged = own
        if self._changed and _write(self.folder, entries):
            self._changed = False


def _write(folder: Path | None, entries: Entries) -> bool:
    """True if the folder is there, and what could be written is."""
    if folder is None or not folder.is_dir():
        return False
    text = json.dumps({place: [stamp, found.digest, found.imports] for place, (stamp, found) in entries.items()})
    temporary = folder / f"{FILE}.{os.getpid()}"
    try:
        temporary.write_text(f"{_seal(text)}\n{text}", encoding="utf-8")
        temporary.replace(folder / FILE)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return True


def _bytecode(package: Path) -> Path | None:
    """The folder in which Python keeps the bytecode of the package; None where it keeps none."""
    try:
        return Path(cache_from_source(str(package / "__init__.py"))).parent
    except NotImplementedError:
        return None


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev


def _read(folder: Path | None) -> Entries:
    if folder is None:
        return {}
    try:
        seal, _, text = (folder / FILE).read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return {}
    if seal != _seal(text):
        return {}
    return {
        place: (tuple(stamp), SourceFile(digest, tuple(imports)))
        for place, (stamp, digest, imports) in json.loads(text).items()
    }


def _seal(text: str) -> str:
    """The digest of the text, of the Python that parsed, and of the code that read."""
    code = [Path(__file__).with_name(name).read_bytes() for name in ("known_files.py", "own_files.py", "sources.py")]
    parts = (sys.version.encode(), *code, text.encode("utf-8", "surrogatepass"))
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
