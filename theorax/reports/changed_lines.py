"""The first changed line of a file since the baseline was committed, as git tells it; line 1 where it tells nothing."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["changed_lines"]

_PATIENCE = 20  # seconds for one call of git
_HUNK = re.compile(r"^@@ -\S+ \+(\d+)", re.MULTILINE)


def changed_lines(sources: Iterable[str], baseline: Path, root: Path) -> dict[str, int]:
    """The first line that differs in each of these files; files that are not below the project's ``root`` are left out.

    The files are held against the last commit of the baseline's file, or against the last commit of all.
    """
    files = [source for source in dict.fromkeys(sources) if (root / source).is_file()]
    if not files:
        return {}
    since = _git(root, "log", "-1", "--format=%H", "--", str(baseline.resolve())).strip() or "HEAD"
    found = {}
    for file in files:
        hunk = _HUNK.search(_git(root, "diff", "-U0", "--no-color", "--no-ext-diff", since, "--", file))
        found[file] = max(int(hunk[1]), 1) if hunk else 1
    return found


def _git(root: Path, *words: str) -> str:
    told: dict[str, Any] = {"capture_output": True, "text": True, "errors": "replace"}
    try:
        done = subprocess.run(["git", *words], cwd=root, timeout=_PATIENCE, check=False, **told)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
