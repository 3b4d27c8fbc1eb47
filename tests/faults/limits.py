"""Real commands on a full disk, in folders that cannot be written, and with little memory: a sentence and the right code."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.faults.counts import Counts

CHECK = ("theorem", "price_identity", "--effort", "quick", "--jobs", "1")
# What is limited, the words of the command, the codes that are right.
FULL = (("a full disk", 0, CHECK, (0,)), ("a full disk", 0, (*CHECK, "-o", "json=r.json"), (2,)))
READ_ONLY = (
    ("a folder that cannot be written", None, (*CHECK, "--state", "/proc/nowhere"), (0,)),
    ("a folder that cannot be written", None, (*CHECK, "-o", "json=/proc/nowhere.json"), (2,)),
    (
        "a folder that cannot be written",
        None,
        ("baseline", "save", "/proc/nowhere.json", "--only", "price_identity"),
        (2,),
    ),
)
MEMORY = (2**27, 2**28, 2**29, 2**30)


def attack(counts: Counts, *, whole: bool) -> None:
    """Every limit once; without ``whole`` those alone that end before anything is checked."""
    for what, size, words, right in (*(FULL if whole else ()), *(READ_ONLY if whole else READ_ONLY[1:])):
        limit = None if size is None else (resource.RLIMIT_FSIZE, size)
        _run(counts, what, words, right, limit)
    for size in MEMORY if whole else MEMORY[:1]:
        # Python itself may find too little to begin with, and say so in its own words.
        _run(counts, "a memory limit", CHECK, (0, 1, 3), (resource.RLIMIT_AS, size), told=False)


def _run(
    counts: Counts,
    what: str,
    words: tuple[str, ...],
    right: tuple[int, ...],
    limit: tuple[int, int] | None,
    told: bool = True,
) -> None:
    with tempfile.TemporaryDirectory(prefix="theorax-limits-") as folder:
        Path(folder, ".git").mkdir()
        done = subprocess.run(
            [sys.executable, "-m", "theorax", *words],
            cwd=folder, capture_output=True, text=True, check=False, preexec_fn=_limited(limit), timeout=600,
        )  # fmt: skip
    counts.count(what)
    line = (done.stderr.strip().splitlines() or [""])[-1][:200]
    if told and (done.returncode not in right or "Traceback" in done.stderr):
        counts.breaks(
            "tracebacks for a user's mistake", f"{what}, exit code {done.returncode} of {' '.join(words)}: {line}"
        )
    if done.returncode == 0 and "SUPPORTED" not in done.stdout:
        counts.breaks("wrongly green", f"{what}: exit code 0 without a report")


def _limited(limit: tuple[int, int] | None) -> Callable[[], None]:
    def begin() -> None:
        if limit is not None:
            resource.setrlimit(limit[0], (limit[1], limit[1]))

    return begin
