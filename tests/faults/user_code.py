"""Theorems of a user that end, hold or leave their process: the command reports on them, and nothing of them stays."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import fakes

from tests.faults.counts import Counts

WAYS = {
    "os._exit": "os._exit(0)",
    "sys.exit": "sys.exit(0)",
    "a thread": "threading.Thread(target=os._exit, args=(0,)).start(); time.sleep(60)",
    "another program": 'os.execv(sys.executable, [sys.executable, "-c", ""])',
    "a segfault": "os.kill(os.getpid(), signal.SIGSEGV)",
    "an abort": "os.abort()",
    "closed files": "os.closerange(3, 64); time.sleep(60)",
    "a loop": "time.sleep(600)",
    "a child": 'subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=False); os._exit(0)',
}
PLACES = ("at_import", "in_build", "in_observe")
COMMAND = (
    "import sys; from theorax.cli.main import main; from theorax.cli.workspace import Workspace; "
    "main(sys.argv[1:], Workspace(check='fakes:executed'))"
)
WORDS = ("theorem", "claims/ends.py", "--jobs", "1", "--timeout", "3", "-o", "json=r.json")


def attack(counts: Counts, ways: Mapping[str, str] = WAYS) -> None:
    """Each way at each place."""
    for way, statement in ways.items():
        for place in PLACES:
            with tempfile.TemporaryDirectory(prefix="theorax-user-") as folder:
                Path(folder, ".git").mkdir()
                fakes.ending(Path(folder, "claims", "ends.py"), place, statement)
                done = subprocess.run(
                    [sys.executable, "-c", COMMAND, *WORDS], cwd=folder, capture_output=True, text=True, check=False,
                    timeout=300,
                )  # fmt: skip
                judge(counts, f"{way} {place}", done.returncode, done.stderr, Path(folder, "r.json"))
                for process in _of(folder):
                    counts.breaks("orphans", f"{way} {place}: process {process}")
            counts.count("theorems that end")


def judge(counts: Counts, trial: str, code: int, complained: str, report: Path) -> None:
    """Hold the end of a command whose one theorem cannot be checked against the promises."""
    told: dict[str, object] = {}
    with suppress(OSError, ValueError):
        told = json.loads(report.read_text(encoding="utf-8"))["summary"]
    if code not in (3, 4) or told.get("exit_code") != code:
        counts.breaks("wrongly green", f"{trial}: exit code {code}, and {told.get('exit_code')} in the report")
    if "Traceback" in complained:
        counts.breaks("tracebacks for a user's mistake", f"{trial}: {complained.strip().splitlines()[-1]}")


def _of(folder: str) -> list[int]:
    """Processes that work in this folder after a moment."""
    time.sleep(0.3)
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            with suppress(OSError):
                if (process / "cwd").readlink() == Path(folder):
                    found.append(int(process.name))
    return found
