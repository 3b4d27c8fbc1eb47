"""Lines of theorem files in the traceback of an error: the author's line says more to an author than a frame of JAX."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from theorax.theorems.roots import LIBRARY


def told_with_line(error: BaseException, roots: Sequence[str]) -> str:
    """The sentence about a programmer's error: the author's line first, or the innermost one where none is the author's."""
    text = str(error).strip().split("\n")[0]
    told = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if line := author_s_line(error, roots):
        return f"{line} raises {told}"
    frame = _innermost(error, lambda file: True)
    return f"{told} ({os.path.basename(frame.filename)}, line {frame.lineno})" if frame else told


def author_s_line(error: BaseException, roots: Sequence[str]) -> str:
    """File, number and text of the innermost line below a root that was being executed; empty if none was."""
    frame = _innermost(error, lambda file: _is_author_s(file, roots))
    if frame is None:
        return ""
    file = Path(frame.filename)
    source = f" `{frame.line}`" if frame.line else ""
    return f"{file.parent.name}/{file.name}:{frame.lineno}:{source}"


def last_line(error: BaseException, file: Path) -> int | None:
    """Number of the innermost line of this file that was being executed; None if none was."""
    frame = _innermost(error, lambda passed: passed == file.absolute())
    return frame.lineno if frame else None


def _innermost(error: BaseException, wanted: Callable[[Path], bool]) -> traceback.FrameSummary | None:
    passed = reversed(traceback.extract_tb(error.__traceback__))
    return next((frame for frame in passed if wanted(Path(frame.filename).absolute())), None)


def _is_author_s(file: Path, roots: Sequence[str]) -> bool:
    """True for a file below a root; what lies directly in the library's folder is the engine's."""
    if file.is_relative_to(LIBRARY):
        return file.parent != LIBRARY
    return any(file.is_relative_to(root) for root in roots)
