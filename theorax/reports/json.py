"""A report document in a file: written whole or not at all."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from theorax.errors import UsageError
from theorax.text.codec import plain
from theorax.text.safe import UNSEEN


def text(document: Any) -> str:
    """A document as JSON text; what a terminal or a log could take for a command is written as an escape."""
    written = json.dumps(plain(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return UNSEEN.sub(_escape, written).replace("##[", "#\\u0023[")


def _escape(found: re.Match[str]) -> str:
    # JSON writes a character beyond the first plane as two halves.
    halves = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{halves[at : at + 2].hex()}" for at in range(0, len(halves), 2))


def writable(path: Path) -> None:
    """Make sure, before anything is checked, that a report can be written there.

    **Raises:** UsageError if not.
    """
    folder = path.parent
    if path.is_dir():
        raise UsageError(f"`{path}` is a folder. Name a file for the report, such as `{path / 'report.json'}`.")
    if not folder.is_dir():
        raise UsageError(f"The report cannot be written to `{path}`: there is no folder `{folder}`. Make it first.")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".theorax-"):
            pass
    except OSError as error:
        raise UsageError(
            f"The report cannot be written to `{path}`: {error.strerror}. Choose a folder that can be written."
        ) from None


def write_text(content: str, path: Path) -> None:
    """Write a text; a reader sees the old file or the whole new one.

    **Raises:** UsageError if it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UsageError(f"The report could not be written to `{path}`: {error.strerror}.") from None
