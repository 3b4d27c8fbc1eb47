"""What a user waits for: `verify theorem` fresh at two efforts, and kept; with programs, compilation and peak memory.

    python benchmarks/commands.py [THEOREM] [--beside TREE] [--rounds 1]

Run it alone on a quiet machine. Every command is a process of its own, timed from outside; the first fresh run compiles
everything, the second finds XLA's persistent cache. ``--beside`` runs each command in another checkout of the package too,
in turns with this one, each tree with a state and compiled programs of its own, and prints the ratio. Told is the shortest
wall of the rounds, and what that run used.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

THEOREM = "rank_collapse_width"
HERE = Path(__file__).parents[1]
FRESH, KEPT = ("--fresh",), ()


@dataclass(frozen=True)
class Row:
    """A command that a user types, and whether what was compiled before is forgotten first."""

    name: str
    arguments: tuple[str, ...]
    forgets: bool = False
    reports: bool = True


@dataclass(frozen=True)
class Run:
    """What one command took, and the summary of its report if it wrote one."""

    wall: float
    cpu: float
    peak: float  # MiB, of its largest process
    summary: Mapping[str, Any]

    def __str__(self) -> str:
        told = f"{self.wall:8.2f} {self.cpu:8.2f} {self.peak:9.0f}"
        if not self.summary:
            return told
        share = self.summary["compile_share"]
        told += f" {self.summary['programs']:9d} {self.summary['compile_seconds']:10.2f}"
        return told if share is None else f"{told} {share:6.0%}"


def rows(theorem: str) -> tuple[Row, ...]:
    """The commands, in the order in which a user types them."""
    check = ("theorem", theorem, "--effort")
    return (
        Row("quick, fresh, nothing compiled before", (*check, "quick", *FRESH), forgets=True),
        Row("quick, fresh, compiled before", (*check, "quick", *FRESH)),
        Row("quick, kept", (*check, "quick", *KEPT)),
        Row("standard, fresh, nothing compiled before", (*check, "standard", *FRESH), forgets=True),
        Row("standard, fresh, compiled before", (*check, "standard", *FRESH)),
        Row("standard, kept", (*check, "standard", *KEPT)),
        Row("explain, after a check", ("explain", theorem), reports=False),
        Row("explain, kept", ("explain", theorem), reports=False),
        Row("list", ("list",), reports=False),
        Row("--help", ("--help",), reports=False),
    )


def run(row: Row, tree: Path, folder: Path) -> Run:
    """One command in a process of its own; it must end with exit code 0."""
    compiled, report = folder / "compiled", folder / "report.json"
    if row.forgets:
        subprocess.run(["rm", "-rf", str(compiled)], check=True)
    command = [sys.executable, "-m", "theorax", *row.arguments]
    command += ["--output", f"json={report}"] if row.reports else []
    environment = {**os.environ, "PYTHONPATH": str(tree), "JAX_COMPILATION_CACHE_DIR": str(compiled)}
    began = time.perf_counter()
    with tempfile.TemporaryFile() as told:
        process = subprocess.Popen(command, stdout=told, stderr=told, env=environment, cwd=folder)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            told.seek(0)
            sys.exit(f"{' '.join(command)} in {tree.name} ended with {process.returncode}:\n{told.read().decode()}")
    summary = json.loads(report.read_text())["summary"] if row.reports else {}
    return Run(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, summary)


def measured(row: Row, trees: Sequence[Path], folders: Sequence[Path], rounds: int) -> list[Run]:
    """The fastest run of each tree, the trees in turns."""
    every = [[run(row, *place) for place in zip(trees, folders, strict=True)] for _ in range(rounds)]
    return [min(runs, key=lambda done: done.wall) for runs in zip(*every, strict=True)]


def main() -> None:
    """Print one row per command and tree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("theorem", nargs="?", default=THEOREM)
    parser.add_argument("--beside", type=Path, help="another checkout, measured in turns with this one")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    trees = [*([options.beside.resolve()] if options.beside else []), HERE]
    names = ["before", "now"] if options.beside else [""]
    print(
        f"{os.cpu_count()}-core {platform.machine()} CPU, Python {platform.python_version()}, jax {metadata.version('jax')}"
    )
    print(
        f"verify theorem {options.theorem}; load before {os.getloadavg()[0]:.1f}; shortest of {options.rounds} rounds"
    )
    print(
        f"{'command':42} {'':6} {'wall s':>8} {'CPU s':>8} {'peak MiB':>9} {'programs':>9} {'compile s':>10} {'of CPU':>6}"
    )
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch, str(place)) for place in range(len(trees))]
        for folder in folders:
            folder.mkdir()
            (folder / "pyproject.toml").touch()  # a project of its own, whose state stays here
        run(Row("", ("explain", options.theorem), reports=False), trees[-1], folders[-1])  # bytecode, and the text kept
        for tree, folder in zip(trees, folders, strict=True):
            run(Row("", ("explain", options.theorem), reports=False), tree, folder)
        for row in rows(options.theorem):
            found = measured(row, trees, folders, options.rounds)
            for name, done in zip(names, found, strict=True):
                gain = f"   {found[0].wall / done.wall:.1f} times as fast" if name == "now" else ""
                print(f"{row.name if name != 'now' else '':42} {name:6} {done}{gain}", flush=True)
    print(f"load after {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
