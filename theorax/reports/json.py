"""JSON files: written whole or not at all, and read back as a value of their type or refused with the place at fault."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import stat
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from theorax.errors import UsageError
from theorax.text.codec import Malformed, built, json_values
from theorax.text.safe import UNSEEN

File = TypeVar("File")
LARGEST_FILE = 2**30  # bytes; all theorems at thorough effort fill a few megabytes
LARGEST_COUNT = 2**63 - 1


def text(document: Any) -> str:
    """A document as JSON text; what a terminal or a log could take for a command is written as an escape."""
    written = json.dumps(json_values(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return UNSEEN.sub(_escape, written).replace("##[", "#\\u0023[")


def _escape(found: re.Match[str]) -> str:
    # JSON writes a character beyond the first plane as two halves.
    halves = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{halves[at : at + 2].hex()}" for at in range(0, len(halves), 2))


def writable(path: Path) -> None:
    """Make sure, before anything is checked, that a report can be written there.

    **Raises:** UsageError if not.
    """
    try:
        if path.is_dir():
            raise UsageError(f"`{path}` is a folder. Name a file for the report, such as `{path / 'report.json'}`.")
        if is_written_into(path):
            if not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return
        folder = _place(path).parent
        if not folder.is_dir():
            raise UsageError(f"The report cannot be written to `{path}`: there is no folder `{folder}`. Make it first.")
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".theorax-"):
            pass
    except OSError as error:
        raise UsageError(
            f"The report cannot be written to `{path}`: {error.strerror}. Choose a folder that can be written."
        ) from None


def write_text(content: str, path: Path) -> None:
    """Write a text, as `write_bytes` does.

    **Raises:** UsageError if it cannot be written.
    """
    write_bytes(content.encode("utf-8"), path)


def write_bytes(content: bytes, path: Path) -> None:
    """Write a file; a reader sees the old one or the whole new one.

    Links are followed: the file that they lead to is replaced. A device or a pipe is written into and stays what it is.

    **Raises:** UsageError if it cannot be written.
    """
    try:
        if is_written_into(path):
            # A pipe that nobody reads from would be waited for without end.
            with open(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK), "wb") as file:
                os.set_blocking(file.fileno(), True)
                file.write(content)
        else:
            _replace(_place(path), content)
    except OSError as error:
        why = "nobody reads from it" if error.errno == errno.ENXIO else error.strerror
        raise UsageError(f"The report could not be written to `{path}`: {why}.") from None


_STREAMS = (Path("/dev/stdout"), Path("/dev/stderr"))


def is_written_into(path: Path) -> bool:
    """True for what is no regular file, and for a stream of this process, which stays open where it leads to one."""
    is_stream = path in _STREAMS or os.path.realpath(path.parent).startswith("/proc/")
    return path.exists() and (is_stream or not path.is_file())


def _place(path: Path) -> Path:
    """The file that links lead to.

    **Raises:** OSError where they lead in a circle.
    """
    place = Path(os.path.realpath(path)) if path.is_symlink() else path
    if place.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return place


def _replace(place: Path, content: bytes) -> None:
    temporary = place.with_name(f".theorax-{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if place.exists():
            temporary.chmod(stat.S_IMODE(place.stat().st_mode))
        temporary.replace(place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def json_in(path: Path, what: str, write: str, usual: str) -> dict[str, Any]:
    """The JSON object in a file that the user named; ``write`` tells how to write one, ``usual`` is its usual name.

    **Raises:** UsageError if there is none, or it is cut off.
    """
    try:
        if path.is_dir():
            raise UsageError(f"`{path}` is a folder. Name the {what} in it, such as `{path / usual}`.")
        # A pipe may never be written to, and a device may never end.
        if path.exists() and not path.is_file():
            raise UsageError(f"`{path}` is not a regular file. Write the {what} to a file, and name that.")
        if (size := path.stat().st_size) > LARGEST_FILE:
            raise UsageError(f"`{path}` has {size} bytes, more than any {what} has. {write}")
        found = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except FileNotFoundError:
        raise UsageError(f"There is no {what} `{path}`. {write}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The {what} `{path}` cannot be read: {error}. {write}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"`{path}` is no whole {what}: {error}. It was cut off or edited. {write}") from None
    if not isinstance(found, dict):
        raise UsageError(f"`{path}` is no {what}: it holds no object. {write}")
    return found


def checked(
    kind: type[File],
    found: Mapping[str, Any],
    told: str,
    remedy: str,
    held: Callable[[File], File] = lambda file: file,
) -> File:
    """The value in a JSON object; ``held`` refuses one whose parts do not agree.

    **Raises:** UsageError that begins as ``told``, names the path of the offending field and ends with the remedy.
    """
    try:
        _refuse_endless(found, "")
        return held(built(kind, found))
    except Malformed as error:
        raise UsageError(f"{told}, at `{error.place or '.'}`: {error}. {remedy}") from None


def _refuse_endless(value: Any, place: str) -> None:
    """Refuse numbers that JSON can write and a double or a count of 64 bits cannot hold.

    **Raises:** Malformed with the first of them.
    """
    if isinstance(value, dict):
        for key, part in value.items():
            _refuse_endless(part, f"{place}.{key}")
    elif isinstance(value, list):
        for at, part in enumerate(value):
            _refuse_endless(part, f"{place}[{at}]")
    elif isinstance(value, float) and not math.isfinite(value):
        raise Malformed(place, "the number there is larger than any double")
    elif isinstance(value, int) and abs(value) > LARGEST_COUNT:
        raise Malformed(place, "the whole number there has more than 64 bits")


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")
