"""Folders that git tracks, found in the index of the repository without running git.

A repository is written by others. Results that come with a clone were checked by nobody here, so a state folder that is
tracked is refused.

The format is that of the manual page gitformat-index: versions 2 to 4, with split indices.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from theorax.errors import UsageError, option

__all__ = ["refuse_tracked", "tracked_in"]

_HEAD = 12  # bytes: signature, version, number of entries
_STAT = 40  # bytes of an entry before its object's name
_EXTENDED, _SKIPPED_NAME = 0x4000, 0xFFF
_LINK = re.compile(rb"link\x00\x00")


def refuse_tracked(folder: Path) -> Path:
    """The state folder, which holds results that were found here.

    **Raises:** UsageError if git tracks it: its results came with the repository, and nothing here has checked them.
    """
    if (found := tracked_in(folder)) is not None:
        raise UsageError(
            f"`{folder}` holds results, and git tracks it (`{found}`): whoever wrote the repository may have written "
            "them, and nothing was checked here. Write `git rm -r --cached` and the folder's name, or give "
            f"`{option('state')}` another folder."
        )
    return folder


def tracked_in(folder: Path) -> str | None:
    """A file in this folder that git tracks, or the folder itself where it is a link or a repository; None if none is.

    The folder is looked for as it is written and as links lead to it. Case does not count: on some file systems two
    spellings are one folder.
    """
    if not folder.is_dir():
        return None
    for place in dict.fromkeys((Path(os.path.abspath(folder)), folder.resolve())):
        for parent in place.parents:
            if (git := _git_folder(parent)) is not None:
                wanted = place.relative_to(parent).as_posix()
                if (found := _first_below(git, wanted)) is not None:
                    return found
                break
    return None


def _git_folder(root: Path) -> Path | None:
    """The folder with the index of the repository or worktree at ``root``."""
    git = root / ".git"
    try:
        if git.is_file():
            place = git.read_text(encoding="utf-8").partition("gitdir:")[2].strip()
            git = root / place
    except (OSError, UnicodeDecodeError):
        return None
    return git if (git / "index").is_file() else None


def _first_below(git: Path, wanted: str) -> str | None:
    bare = wanted.casefold()
    for index in _indices(git):
        # Before all entries are read: most repositories are large, and hold no such name. Names are cut up in version 4.
        if int.from_bytes(index[4:8]) < 4 and wanted.isascii() and bare.encode() not in index.lower():
            continue
        # An index that is cut off is refused by git itself.
        with suppress(IndexError, ValueError):
            for name in _names(index, _object_size(git)):
                found = name.casefold()
                if found == bare or found.startswith(f"{bare}/"):
                    return name
    return None


def _indices(git: Path) -> Iterator[bytes]:
    """The index, and the one that it is split from."""
    index = (git / "index").read_bytes()
    if index[:4] != b"DIRC":
        return
    yield index
    size = _object_size(git)
    for match in _LINK.finditer(index):
        shared = git / f"sharedindex.{index[match.start() + 8 : match.start() + 8 + size].hex()}"
        if shared.is_file():
            yield shared.read_bytes()


def _object_size(git: Path) -> int:
    """Bytes of an object's name."""
    common = git / "commondir"
    try:
        config = (git / common.read_text(encoding="utf-8").strip() if common.is_file() else git) / "config"
        text = config.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 20
    return 32 if re.search(r"objectformat\s*=\s*sha256", text, re.IGNORECASE) else 20


def _names(index: bytes, size: int) -> Iterator[str]:
    version, count = int.from_bytes(index[4:8]), int.from_bytes(index[8:12])
    at, before = _HEAD, b""
    for _ in range(count):
        begin = at
        flags = int.from_bytes(index[at + _STAT + size : at + _STAT + size + 2])
        at += _STAT + size + (4 if version >= 3 and flags & _EXTENDED else 2)
        if version == 4:
            dropped, at = _variable(index, at)
            end = index.index(b"\0", at)
            name = before[: len(before) - dropped] + index[at:end]
            at = end + 1
        else:
            length = flags & _SKIPPED_NAME
            end = at + length if length < _SKIPPED_NAME else index.index(b"\0", at)
            name = index[at:end]
            at = begin + (end - begin + 8) // 8 * 8  # padded with one to eight zeros
        before = name
        yield os.fsdecode(name)


def _variable(index: bytes, at: int) -> tuple[int, int]:
    """A number in git's variable width, and the place after it."""
    byte = index[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = index[at]
        value = (value + 1 << 7) | (byte & 0x7F)
    return value, at + 1
