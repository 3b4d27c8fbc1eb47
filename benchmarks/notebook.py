"""The draws of two evidence lines beside the NumPy that a theorist would write for them, with one and two threads.

    python benchmarks/notebook.py [--before COMMAND] [--after COMMAND] [--rounds 3] [--effort quick]

The lines are those of `rank_collapse_width` with exponential and uniform weights, at gamma = 1/2: tokens X_l = A_l
X_(l-1) W_l from isometric X_0, of which the largest singular value and the sum of the fourth powers of the others are
measured at l = 1, 2. NumPy multiplies the matrices and decomposes every product (`numpy.linalg.svd`); theorax draws what
the check draws, with what was compiled before. Two threads: two of BLAS for NumPy, two processes with half of the draws for
theorax. Each way has processes of its own, and the ways take turns; told are the shortest wall of the rounds, and the CPU
seconds of that round. ``--before`` and ``--after`` are commands around each measurement, for instance to pause other work.
Both must agree in law: every mean of the first round is compared within its standard errors.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

THEOREM, EXPERIMENT, SUBJECTS, DEPTH = "rank_collapse_width", "widths", ("exponential", "uniform"), 2
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
LETTERS = ("top", "tail")


def by_hand(weights: str, T: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """One draw: the largest singular value and the sum of the others' fourth powers, after each layer."""
    Q, _ = np.linalg.qr(rng.standard_normal((d, T)))
    X, found = Q.T, []
    for _ in range(DEPTH):
        A = rng.exponential(size=(T, T)) if weights == "exponential" else rng.uniform(size=(T, T))
        A = A / A.sum(axis=1, keepdims=True)
        W = rng.standard_normal((d, d)) / np.sqrt(d)
        X = A @ X @ W
        s = np.linalg.svd(X, compute_uv=False)
        found.append([s[0], np.sum(s[1:] ** 4)])
    return np.array(found)


def lines(effort: str) -> list[Any]:
    """The evidence lines at this effort, and all lines of the experiment."""
    from theorax.verifiers.cases.sweep_lines import sweep_lines
    from theorax.verifiers.loading import load
    from theorax.verifiers.settings import Settings

    experiment = load(THEOREM).experiments[EXPERIMENT]
    return [experiment, sweep_lines(EXPERIMENT, experiment, Settings(effort=effort))]


def sizes(line: Any) -> list[tuple[int, int]]:
    """Context length and width at each size of the line."""
    letters = [{str(letter): value for letter, value in line.letters_at(size).items()} for size in line.sizes]
    return [(size, int(at["d"])) for size, at in zip(line.sizes, letters, strict=True)]


def numpy_way(plan: Sequence[Mapping[str, Any]], number: int, first: int, count: int) -> list[Any]:
    """Tables of every line at every size, draws by layers by letters."""

    def table(at: int, weights: str, T: int, d: int) -> list[np.ndarray]:
        return [by_hand(weights, T, d, np.random.default_rng([number, at, T, first + i])) for i in range(count)]

    return [[table(at, line["name"], T, d) for T, d in line["sizes"]] for at, line in enumerate(plan)]


def our_way(effort: str, first: int, count: int) -> Callable[[int], list[Any]]:
    """A function of a seed that draws all lines, its programs compiled."""
    from dataclasses import replace

    from theorax.numerics import platform as device
    from theorax.numerics.sampler import Sampler
    from theorax.verifiers.cases.measure import measure

    device.enable(cache_dir=Path.cwd() / ".theorax" / "compiled")
    experiment, every = lines(effort)
    sampler = Sampler()

    def drawn(seed: int) -> list[Any]:
        found = []
        for line in every:
            if line.name in SUBJECTS:
                part = replace(line, draws=count)
                seen = measure(THEOREM, experiment, part, every, seed, sampler, first)
                found.append([np.stack([table[name] for name in LETTERS], axis=-1) for table in seen.tables])
        return found

    drawn(2**31)  # compiles, with a seed that no round has
    return drawn


def work(options: argparse.Namespace) -> None:
    """One process: get ready; for each line that comes compute a round, and print its CPU seconds and its tables."""
    plan = json.loads(options.plan)
    ours = our_way(options.effort, options.first, options.count) if options.work == "theorax" else None
    print("ready", flush=True)
    for number, _ in enumerate(sys.stdin):
        begun = time.process_time()
        tables = ours(number) if ours else numpy_way(plan, number, options.first, options.count)
        spent = time.process_time() - begun
        told = [[np.asarray(table).tolist() for table in line] for line in tables]
        print(json.dumps({"cpu": spent, "tables": told}), flush=True)


class Way:
    """The processes of one way with so many threads: threads of BLAS for NumPy, processes for theorax."""

    def __init__(self, name: str, threads: int, plan: Sequence[Mapping[str, Any]], options: argparse.Namespace) -> None:
        self.name, self.threads, self._plan, self._options = name, threads, plan, options
        parts, count = threads if name == "theorax" else 1, plan[0]["draws"]
        each = {**os.environ, **dict.fromkeys(THREADS, str(threads if name == "numpy" else 1))}
        ends = [count * part // parts for part in range(parts + 1)]
        self._workers = []
        for first, end in itertools.pairwise(ends):
            command = [sys.executable, __file__, "--work", name, "--plan", json.dumps(plan), "--effort", options.effort]
            command += ["--first", str(first), "--count", str(end - first)]
            pipe = subprocess.PIPE
            self._workers.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=each))
        self.tables: list[Any] = []
        self.rounds: list[tuple[float, float]] = []

    def is_ready(self) -> bool:
        """Wait until every process can begin; False if one ended before."""
        return all(worker.stdout.readline() == "ready\n" for worker in self._workers)

    def measure(self) -> None:
        """One round: wall and CPU seconds, and the tables of the first."""
        if self._options.before:
            subprocess.run(shlex.split(self._options.before), check=True)
        try:
            started = time.perf_counter()
            for worker in self._workers:
                worker.stdin.write("go\n")
                worker.stdin.flush()
            answers = [worker.stdout.readline() for worker in self._workers]
            wall = time.perf_counter() - started
        finally:
            if self._options.after:
                subprocess.run(shlex.split(self._options.after), check=True)
        found = [json.loads(answer) for answer in answers]
        self.rounds.append((wall, sum(part["cpu"] for part in found)))
        self.tables = self.tables or [
            [
                np.concatenate([part["tables"][line][at] for part in found])
                for at in range(len(self._plan[line]["sizes"]))
            ]
            for line in range(len(self._plan))
        ]

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.stdin.close()
            worker.wait()


def agreement(one: Sequence[Any], other: Sequence[Any]) -> tuple[int, float]:
    """How many means are compared, and the largest difference in standard errors."""
    found = []
    for mine, theirs in zip(one, other, strict=True):
        for table, by_numpy in zip(mine, theirs, strict=True):
            apart = table.mean(0) - by_numpy.mean(0)
            error = np.sqrt(table.var(0, ddof=1) / len(table) + by_numpy.var(0, ddof=1) / len(by_numpy))
            found.append(np.abs(apart / error).ravel())
    every = np.concatenate(found)
    return every.size, float(every.max())


def largest_expected(count: int, draws: int, level: float = 0.01) -> float:
    """Bound that the largest of so many differences exceeds with this probability under one law (Student, Bonferroni)."""
    from scipy.special import stdtrit

    return float(stdtrit(draws - 1, 1 - level / (2 * count)))


def main() -> None:
    """Print the seconds of both ways at one and two threads, their ratios, and whether they agree in law."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--before", help="a command before each measurement")
    parser.add_argument("--after", help="a command after each measurement")
    parser.add_argument("--work", choices=("numpy", "theorax"), help=argparse.SUPPRESS)
    parser.add_argument("--plan", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options)
        return
    _, every = lines(options.effort)
    plan = [{"name": line.name, "draws": line.draws, "sizes": sizes(line)} for line in every if line.name in SUBJECTS]
    draws = plan[0]["draws"]
    shown = ", ".join(f"{T} x {d}" for T, d in dict.fromkeys(at for line in plan for at in line["sizes"]))
    print(f"{os.cpu_count()}-core {platform.machine()} CPU, Python {platform.python_version()}, jax {metadata.version('jax')}, "
          f"numpy {np.__version__}; load before {os.getloadavg()[0]:.1f}")  # fmt: skip
    print(
        f"{len(plan)} evidence lines of {THEOREM}, {draws} draws at each size: {shown}; L = {DEPTH}, float64, compiled before"
    )
    print(f"{'threads':>7} {'way':>8} {'wall s':>8} {'CPU s':>8} {'ratio of walls':>15} {'of CPU':>7}", flush=True)
    ways = [Way(name, threads, plan, options) for threads in (1, 2) for name in ("numpy", "theorax")]
    try:
        if not all(way.is_ready() for way in ways):
            sys.exit("A process ended before it was ready.")
        for _ in range(options.rounds):
            for way in ways:
                way.measure()
    finally:
        for way in ways:
            way.close()
    for theirs, ours in ((ways[0], ways[1]), (ways[2], ways[3])):
        (slow, slow_cpu), (fast, fast_cpu) = min(theirs.rounds), min(ours.rounds)
        print(f"{theirs.threads:>7} {'numpy':>8} {slow:>8.1f} {slow_cpu:>8.1f}")
        print(
            f"{ours.threads:>7} {'theorax':>8} {fast:>8.1f} {fast_cpu:>8.1f} {slow / fast:>15.1f} {slow_cpu / fast_cpu:>7.1f}"
        )
        count, largest = agreement(ours.tables, theirs.tables)
        limit = largest_expected(count, draws)
        told = f"of {count} means the largest difference is {largest:.1f} standard errors"
        print(
            f"        both {'agree' if largest <= limit else 'DO NOT AGREE'} in law: {told}, in one of 100 runs > {limit:.1f}"
        )
        if largest > limit:
            sys.exit(1)


if __name__ == "__main__":
    main()
