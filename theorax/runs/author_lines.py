"""Lines of theorem files in the traceback of an error: the author's line says more to an author than a frame of JAX."""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence
from pathlib import Path

from theorax.theorems.roots import LIBRARY


def told_with_line(error: BaseException, roots: Sequence[str]) -> str:
    """The sentence about a programmer's error: the author's line first, or the innermost one where none is the author's."""
    text = str(error).strip().split("\n")[0]
    told = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if line := author_s_line(error, roots):
        return f"{line} raises {told}"
    frames = traceback.extract_tb(error.__traceback__)
    return f"{told} ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})" if frames else told


def author_s_line(error: BaseException, roots: Sequence[str]) -> str:
    """File, number and text of the innermost line below a root that was being executed; empty if none was."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _is_author_s(Path(frame.filename), roots)]
    if not own:
        return ""
    file = Path(own[-1].filename)
    source = f" `{own[-1].line}`" if own[-1].line else ""
    return f"{file.parent.name}/{file.name}:{own[-1].lineno}:{source}"


def _is_author_s(file: Path, roots: Sequence[str]) -> bool:
    """True for a file below a root; what lies directly in the library's folder is the engine's."""
    if file.is_relative_to(LIBRARY):
        return file.parent != LIBRARY
    return any(file.is_relative_to(root) for root in roots)
