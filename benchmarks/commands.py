"""What a user waits for: `verify theorem` fresh at quick and standard effort, and kept; programs, compilation, peak memory.

Run it alone on a quiet machine: `python benchmarks/commands.py [theorem]`. Every command is a process of its own, timed from
outside; the first fresh run compiles everything, the second finds XLA's persistent cache.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

THEOREM = "rank_collapse_width"


def run(*arguments: str, state: str) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak memory in MiB of one command; it must end with exit code 0."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    command = [sys.executable, "-m", "theorax", *arguments, "--state", state]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, after.ru_maxrss / 1024


def main() -> None:
    """Print one row per command."""
    theorem = sys.argv[1] if len(sys.argv) > 1 else THEOREM
    print(f"{os.cpu_count()} cores; load before {os.getloadavg()[0]:.1f}; verify theorem {theorem}")
    print(f"{'command':44} {'wall s':>8} {'CPU s':>8} {'peak MiB':>9} {'programs':>9} {'compile s':>10} {'of CPU':>7}")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        rows = (
            ("quick, fresh, nothing compiled before", ("--effort", "quick", "--fresh")),
            ("quick, fresh, compiled before", ("--effort", "quick", "--fresh")),
            ("quick, kept", ("--effort", "quick")),
            ("standard, fresh, nothing compiled before", ("--effort", "standard", "--fresh")),
            ("standard, kept", ("--effort", "standard")),
        )
        for name, options in rows:
            wall, cpu, peak = run("theorem", theorem, *options, "--output", f"json={report}", state=folder)
            summary = json.loads(report.read_text())["summary"]
            share = summary["compile_share"]
            print(
                f"{name:44} {wall:8.2f} {cpu:8.2f} {peak:9.0f} {summary['programs']:9d} "
                f"{summary['compile_seconds']:10.2f} {'' if share is None else f'{share:.0%}':>7}",
                flush=True,
            )
    print(f"load after {os.getloadavg()[0]:.1f}; peak memory is the largest of all commands so far")


if __name__ == "__main__":
    main()
