"""Real checks that are ended at a random instant: what had finished is kept, nothing is green that is not, nobody is left.

Each command is a fork of this process, which has imported everything and computed nothing: a trial costs its check alone.
A worker process begins anew. Whoever is started carries the number of the trial in its environment, so that what is left
behind is found.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.counts import Counts

THEOREMS = ("sparse_attention_shared_values", "price_identity")
SIGNALS = ("KILL", "TERM", "INT", "HUP")
MARK = "THEORAX_FAULT_TRIAL"
PATIENCE = 600.0  # seconds until a command that was ended counts as one that hangs; the machine may be busy
LINGERING = 5.0  # seconds that a worker has to notice that its parent is gone; it looks every half second
_TOLD = re.compile(r"SUPPORTED +(\w+)")


@dataclass(frozen=True)
class Trial:
    """One command, and what is done to it after so many seconds."""

    jobs: int
    target: str  # the parent, a worker, or the group
    signal: str
    after: float

    def __str__(self) -> str:
        return f"SIG{self.signal} to the {self.target} after {self.after:.2f} s, {self.jobs} jobs"


def attack(counts: Counts, number: int, rng: random.Random, folder: Path) -> tuple[Path, Path]:
    """So many kills, spread over the length of an undisturbed run; the state and the report that such a run leaves."""
    _import_everything()
    spans: dict[int, float] = {}
    place = folder / "whole"
    for jobs in (1, 2):
        began = time.monotonic()
        shutil.rmtree(place, ignore_errors=True)
        code = _code(_start(place, jobs, place.name))
        spans[jobs] = time.monotonic() - began
        if code != 0:
            told = [(place / name).read_text(errors="replace") for name in ("out", "err")]
            raise RuntimeError(f"The undisturbed run with {jobs} jobs ended with {code}:\n" + "\n".join(told))
    wanted = _kept(place / ".theorax")
    for at in range(number):
        jobs = 1 if at % 3 else 2
        target = rng.choice(("parent", "group") if jobs == 1 else ("parent", "worker", "group"))
        trial = Trial(jobs, target, SIGNALS[at % len(SIGNALS)], rng.uniform(0, 1.05) * spans[jobs])
        _try(counts, trial, folder / str(at), wanted)
        counts.count("kills")
    return place / ".theorax", place / "r.json"


def _import_everything() -> None:
    from theorax.numerics.threads import one_thread

    one_thread()
    import jax  # noqa: F401

    import theorax.cli.check
    import theorax.cli.printing
    import theorax.reports.assembly
    import theorax.reports.renderings
    import theorax.reports.summary
    import theorax.runs.checking
    import theorax.runs.runner  # noqa: F401


def _start(place: Path, jobs: int, mark: str) -> int:
    """The command as a process of its own, at the head of a group of its own, in an empty folder."""
    place.mkdir()
    (place / ".git").mkdir()
    pid = os.fork()
    if pid:
        return pid
    code = 3
    try:
        os.setsid()
        os.chdir(place)
        os.environ[MARK] = mark
        for name in SIGNALS[1:]:
            signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for stream, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        sys.stdout, sys.stderr = os.fdopen(1, "w", buffering=1), os.fdopen(2, "w", buffering=1)
        from theorax.cli.main import main

        words = ["theorem", *THEOREMS, "--effort", "quick", "--jobs", str(jobs), "-o", "terminal", "-o", "json=r.json"]
        main(words)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 3
    except KeyboardInterrupt:
        code = 130
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(code)
    return 0


def _try(counts: Counts, trial: Trial, place: Path, wanted: dict[str, Any]) -> None:
    pid = _start(place, trial.jobs, place.name)
    time.sleep(trial.after)
    number = getattr(signal, f"SIG{trial.signal}")
    with suppress(ProcessLookupError):
        if trial.target == "group":
            os.killpg(pid, number)
        else:
            workers = _workers(pid) if trial.target == "worker" else []
            os.kill(workers[-1] if workers else pid, number)
    code = _code(pid)
    if code is None:
        counts.breaks("orphans", f"{trial}: it never ended")
    counts.ended("no end" if code is None else f"exit code {code}" if code >= 0 else f"signal {-code}")
    judge_code(counts, trial, code)
    _look(counts, trial, place, code, wanted)
    shutil.rmtree(place, ignore_errors=True)


def judge_code(counts: Counts, trial: Trial, code: int | None) -> None:
    """Hold the exit code against the signal: a run that was interrupted says 130, and one that had ended 0.

    A signal that comes before the command has begun ends its process as it ends any other. Whoever loses a worker goes on.
    """
    number = getattr(signal, f"SIG{trial.signal}")
    if trial.target == "worker":
        # It does the check again. A theorem whose worker died twice would be an error.
        right = {0, 3}
        right |= {130, -number}  # there was no worker yet, and the command got the signal
    else:
        right = {0, -number} if trial.signal == "KILL" else {0, 130, -number}
    if code is not None and code not in right:
        counts.breaks("wrong exit codes", f"{trial}: exit code {code}")


def _code(pid: int) -> int | None:
    """The exit code of the command, negative for a signal; None where it had to be ended by force."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def _look(counts: Counts, trial: Trial, place: Path, code: int | None, wanted: dict[str, Any]) -> None:
    """Hold what is left of the command against the promises."""
    until = time.monotonic() + LINGERING
    while (left := _marked(place.name)) and time.monotonic() < until:
        time.sleep(0.05)
    for process in left:
        counts.breaks("orphans", f"{trial}: process {process}")
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    said, complained = (place / "out").read_text(errors="replace"), (place / "err").read_text(errors="replace")
    kept = _kept(place / ".theorax")
    for id in sorted(set(_TOLD.findall(said)) - set(kept)):
        counts.breaks("finished work lost", f"{trial}: {id} was told and is not kept")
    for id, found in kept.items():
        if found != wanted[id]:
            counts.breaks("wrongly green", f"{trial}: {id} is kept as {found}")
    if code == 0 and (set(kept) != set(THEOREMS) or not _is_green(place / "r.json")):
        counts.breaks("wrongly green", f"{trial}: exit code 0 without its report")
    if "Traceback" in said + complained:
        counts.breaks("tracebacks for a user's mistake", f"{trial}: {complained.strip().splitlines()[-1]}")


def _kept(state: Path) -> dict[str, Any]:
    """Status and estimates of everything that is kept whole."""
    from theorax.runs.store import Store

    store = Store(state)
    if store.damaged():
        return {"damaged": None}
    return {
        id: (found["status"], [[case["estimate"] for case in claim["cases"]] for claim in found["claims"]])
        for id, found in store.outcomes()
        if found["status"] != "ERROR"
    }


def _is_green(report: Path) -> bool:
    from theorax.reports.reading import read

    found = read(report)
    return found.summary.exit_code == 0 and set(found.by_id) == set(THEOREMS)


def _workers(pid: int) -> list[int]:
    """Workers of the command. Python's own process that counts what they share is none: its end by force is not defended."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(word) for word in children if b"spawn_main" in Path(f"/proc/{word}/cmdline").read_bytes()]
    except OSError:
        return []


def _marked(mark: str) -> list[int]:
    """Processes of this trial that are still there."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            with suppress(OSError):
                if wanted in (process / "environ").read_bytes().split(b"\0"):
                    found.append(int(process.name))
    return found
