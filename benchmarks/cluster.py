"""What a cluster of k machines would gain, by the measured times of a whole run on one.

    python benchmarks/library.py --effort standard --report report.json
    python benchmarks/cluster.py report.json [--machines 1 4 16 64] [--cores 2]

No cluster is started. A run on k machines is laid out as `--scheduler` would do it: whole checks, one for each core, the
longest that is ready first, and a check only after those that it rests on. `--shard k/n` is laid out by its own split, with
the cores of each machine. A process begins with its imports, measured now. Not in it: cores that share the draws of the last
checks of a machine, programs that several machines compile each for itself, and the network.

The longest check bounds any number of machines, since a check stays on one.
"""

from __future__ import annotations

import argparse
import heapq
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from theorax.runs.shards import split_into_shards


def imports_seconds(times: int = 3) -> float:
    """Seconds until a worker process can check, the least of several."""
    command = [sys.executable, "-c", "import theorax.runs.checking, theorax.verifiers.theorem_check, jax"]
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        subprocess.run(command, check=True)
        taken.append(time.perf_counter() - began)
    return min(taken)


def laid_out(seconds: Mapping[str, float], uses: Mapping[str, Sequence[str]], processes: int, start: float) -> float:
    """Wall seconds of these checks on so many processes, each check after those that it rests on."""
    waiting = sorted(seconds, key=lambda id: -seconds[id])
    free = [start] * processes
    ended: dict[str, float] = {}
    running: list[tuple[float, str]] = []
    clock = 0.0
    while waiting or running:
        for id in [id for id in waiting if all(name in ended for name in uses[id] if name in seconds)]:
            if len(running) == processes:
                break
            began = max(clock, heapq.heappop(free))
            heapq.heappush(running, (began + seconds[id], id))
            waiting.remove(id)
        clock, id = heapq.heappop(running)
        ended[id] = clock
        heapq.heappush(free, clock)
    return clock


def rows(document: Mapping[str, Any], machines: Sequence[int], cores: int, start: float) -> list[str]:
    """One line for each number of machines."""
    theorems = document["theorems"]
    seconds = {part["id"]: max(part["seconds"], 0.0) for part in theorems}
    uses = {part["id"]: part["uses"] for part in theorems}
    cpu = {part["id"]: part["work"]["cpu_seconds"] for part in theorems}
    effort = document["settings"]["effort"]
    longest = max(seconds, key=lambda id: seconds[id])
    alone = laid_out(seconds, uses, cores, start)
    told = [
        f"{len(seconds)} checks of {sum(seconds.values()):.0f} s in all ({sum(cpu.values()):.0f} CPU-s); the longest is "
        f"{longest}, {seconds[longest]:.1f} s; imports {start:.1f} s",
        f"{'machines':>8} {'cores':>6} {'scheduler':>11} {'gain':>6} {'shards':>11} {'gain':>6}",
    ]
    for count in machines:
        scheduled = laid_out(seconds, uses, count * cores, start)
        parts = split_into_shards(tuple(seconds), count, effort)
        shards = max(laid_out({id: seconds[id] for id in part}, uses, cores, start) for part in parts)
        told.append(
            f"{count:8d} {count * cores:6d} {scheduled:9.1f} s {alone / scheduled:6.1f} {shards:9.1f} s {alone / shards:6.1f}"
        )
    return told


def main() -> None:
    """Lay out the run of a report on several machines, and print what each takes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path, help="the JSON report of a run with nothing kept")
    parser.add_argument("--machines", type=int, nargs="+", default=[1, 4, 16, 64])
    parser.add_argument("--cores", type=int, default=2, help="of each machine")
    options = parser.parse_args()
    document = json.loads(options.report.read_text())
    kept = [part["id"] for part in document["theorems"] if part["kept_from"] is not None]
    if kept:
        sys.exit(f"{len(kept)} results of {options.report} were kept, and say nothing of time. Run it with --fresh.")
    for line in rows(document, options.machines, options.cores, imports_seconds()):
        print(line)


if __name__ == "__main__":
    main()
