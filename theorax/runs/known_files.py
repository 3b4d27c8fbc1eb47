"""Contents of source files, kept beside the results, so that only changed files are parsed again.

A file counts as unchanged if its size, its times of change (of content and of inode, in nanoseconds), its inode and its
device are those that were kept. A user cannot set the time of the inode. A file that changed within the last two seconds
is not kept: a second change in one tick of the clock would leave all of these as they are. What was kept by another
Python or by other code of this package is not used, and neither is a file of it that was altered.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

FILE = "sources.json"
SETTLED = 2_000_000_000
"""Nanoseconds; the coarsest clock of a file system in use, FAT, ticks every two seconds."""

Stamp = tuple[int, ...]


@dataclass(frozen=True)
class SourceFile:
    """The digest of what a file says, and the modules that it imports."""

    digest: str
    imports: tuple[str, ...]


@dataclass
class KnownFiles:
    """Source files by their path, as they were when they had the stamp beside them; kept in ``folder``, if there is one."""

    folder: Path | None = None
    _entries: dict[str, tuple[Stamp, SourceFile]] | None = field(default=None, repr=False)
    _changed: bool = field(default=False, repr=False)

    def of(self, path: Path, read: Callable[[Path], SourceFile], reading: str = "") -> SourceFile:
        """Contents of the file: as they are kept, or as ``read`` finds them now; ``reading`` tells two ways to read apart.

        **Raises:** what ``read`` raises.
        """
        if self._entries is None:
            self._entries = _read(self.folder)
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
        """Write what was found, if the folder is there; otherwise files are read anew."""
        if not self._changed or self.folder is None or not self.folder.is_dir():
            return
        entries = {
            place: [stamp, found.digest, found.imports] for place, (stamp, found) in (self._entries or {}).items()
        }
        text = json.dumps(entries)
        temporary = self.folder / f"{FILE}.{os.getpid()}"
        try:
            temporary.write_text(f"{_seal(text)}\n{text}", encoding="utf-8")
            temporary.replace(self.folder / FILE)
        except OSError:
            temporary.unlink(missing_ok=True)
        self._changed = False


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev


def _read(folder: Path | None) -> dict[str, tuple[Stamp, SourceFile]]:
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
