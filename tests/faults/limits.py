"""Real commands on a full disk, in folders that cannot be written, and with little memory: a sentence and the right code."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.faults.counts import Counts

CHECK = ("theorem", "price_identity", "--effort", "quick", "--jobs", "1")


@dataclass(frozen=True)
class Limited:
    """What is limited, the words of the command, the exit code that is right, and what the command has to say."""

    what: str
    size: int | None
    words: tuple[str, ...]
    right: int
    says: str


_DISK, _FOLDER = "a full disk", "a folder that cannot be written"
FULL = (
    Limited(_DISK, 0, CHECK, 0, "kept"),
    Limited(_DISK, 0, (*CHECK, "-o", "json=r.json"), 2, "r.json"),
)
READ_ONLY = (
    Limited(_FOLDER, None, (*CHECK, "--state", "/proc/nowhere"), 0, "kept"),
    Limited(_FOLDER, None, (*CHECK, "-o", "json=/proc/nowhere.json"), 2, "nowhere.json"),
    Limited(_FOLDER, None, ("baseline", "save", "/proc/nowhere.json", "--only", "price_identity"), 2, "nowhere.json"),
)
MEMORY = (2**27, 2**28, 2**29, 2**30)


def attack(counts: Counts, *, whole: bool) -> None:
    """Every limit once; without ``whole`` those alone that end before anything is checked."""
    for trial in (*(FULL if whole else ()), *(READ_ONLY if whole else READ_ONLY[1:])):
        limit = None if trial.size is None else (resource.RLIMIT_FSIZE, trial.size)
        judge(counts, trial, _run(trial.words, limit))
    for size in MEMORY if whole else MEMORY[:1]:
        done = _run(CHECK, (resource.RLIMIT_AS, size))
        # Python itself may find too little to begin with, and say so in its own words.
        judge_report(counts, "a memory limit", done)
        counts.count("a memory limit")


def judge(counts: Counts, trial: Limited, done: subprocess.CompletedProcess[str]) -> None:
    """Hold the end of a command against its limit: the right code, and the loss told in a sentence."""
    counts.count(trial.what)
    place = f"{trial.what}, exit code {done.returncode} of {' '.join(trial.words)}"
    if done.returncode != trial.right:
        counts.breaks("wrong exit codes", place)
    if trial.says not in done.stderr + done.stdout.partition("Again")[0]:
        counts.breaks("losses without a word", place)
    if "Traceback" in done.stderr:
        counts.breaks("tracebacks for a user's mistake", f"{place}: {done.stderr.strip().splitlines()[-1][:200]}")
    judge_report(counts, trial.what, done)


def judge_report(counts: Counts, what: str, done: subprocess.CompletedProcess[str]) -> None:
    """Hold exit code 0 against the report that it stands for."""
    if done.returncode == 0 and "SUPPORTED" not in done.stdout:
        counts.breaks("wrongly green", f"{what}: exit code 0 without a report")


def _run(words: tuple[str, ...], limit: tuple[int, int] | None) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory(prefix="theorax-limits-") as folder:
        Path(folder, ".git").mkdir()
        return subprocess.run(
            [sys.executable, "-m", "theorax", *words],
            cwd=folder, capture_output=True, text=True, check=False, preexec_fn=_limited(limit), timeout=600,
        )  # fmt: skip


def _limited(limit: tuple[int, int] | None) -> Callable[[], None]:
    def begin() -> None:
        if limit is not None:
            resource.setrlimit(limit[0], (limit[1], limit[1]))

    return begin
