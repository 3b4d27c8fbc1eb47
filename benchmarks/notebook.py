"""The draws of four evidence lines beside the NumPy that a theorist would write for them, with one and two threads.

    python benchmarks/notebook.py [--before COMMAND] [--after COMMAND] [--effort quick]

The lines are those of `rank_collapse_width` with exponential and uniform weights, at gamma = 1 and 1/2: tokens X_l = A_l
X_(l-1) W_l from isometric X_0, of which the largest singular value and the sum of the fourth powers of the others are
measured at l = 1, 2, 3. NumPy multiplies the matrices and decomposes every product (`numpy.linalg.svd`); theorax draws what
the check draws, with what was compiled before. Two threads: two of BLAS for NumPy, two processes with half of the draws for
theorax. Each way runs in processes of its own that wait for each other; ``--before`` and ``--after`` are commands around each
measurement, for instance to pause other work. Both must agree in law: every mean is compared within its standard errors.
"""

from __future__ import annotations

import argparse
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

THEOREM, EXPERIMENT, SUBJECTS, DEPTH = "rank_collapse_width", "widths", ("exponential", "uniform"), 3
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
LETTERS = ("top", "tail")
ATTEMPT = 2  # of theorax's draws in a process, the one that is timed: the first one compiles


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


def numpy_way(plan: Sequence[Mapping[str, Any]], first: int, count: int) -> list[Any]:
    """Tables of every line at every size, draws by layers by letters."""

    def table(at: int, weights: str, T: int, d: int) -> list[np.ndarray]:
        return [by_hand(weights, T, d, np.random.default_rng([at, T, first + i])) for i in range(count)]

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

    drawn(ATTEMPT - 1)
    return drawn


def work(options: argparse.Namespace) -> None:
    """One process: get ready, wait for a line, compute, and print CPU seconds with the means and their variances."""
    plan = json.loads(options.plan)
    if options.work == "theorax":
        drawn = our_way(options.effort, options.first, options.count)
        run = lambda: drawn(ATTEMPT)  # noqa: E731
    else:
        np.linalg.svd(np.eye(8))
        run = lambda: numpy_way(plan, options.first, options.count)  # noqa: E731
    print("ready", flush=True)
    sys.stdin.readline()
    begun = time.process_time()
    tables = run()
    spent = time.process_time() - begun
    print(json.dumps({"cpu": spent, "tables": [[np.asarray(table).tolist() for table in line] for line in tables]}))


def timed(way: str, threads: int, plan: Sequence[Mapping[str, Any]], options: argparse.Namespace) -> dict[str, Any]:
    """Wall and CPU seconds of one way with so many threads, and its tables, draws joined."""
    count = plan[0]["draws"]
    # NumPy's threads are those of BLAS; ours are processes.
    parts = threads if way == "theorax" else 1
    each = {**os.environ, **dict.fromkeys(THREADS, str(threads if way == "numpy" else 1))}
    begun, workers = 0, []
    for part in range(parts):
        end = count * (part + 1) // parts
        command = [sys.executable, __file__, "--work", way, "--plan", json.dumps(plan), "--effort", options.effort]
        command += ["--first", str(begun), "--count", str(end - begun)]
        workers.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=each))
        begun = end
    for worker in workers:
        if worker.stdout.readline() != "ready\n":
            sys.exit(f"A process of {way} ended before it was ready.")
    if options.before:
        subprocess.run(shlex.split(options.before), check=True)
    try:
        started = time.perf_counter()
        for worker in workers:
            worker.stdin.write("go\n")
            worker.stdin.flush()
        found = [json.loads(worker.stdout.readline()) for worker in workers]
        wall = time.perf_counter() - started
    finally:
        if options.after:
            subprocess.run(shlex.split(options.after), check=True)
    for worker in workers:
        worker.wait()
    tables = [
        [np.concatenate([part["tables"][line][at] for part in found]) for at in range(len(plan[line]["sizes"]))]
        for line in range(len(plan))
    ]
    return {"wall": wall, "cpu": sum(part["cpu"] for part in found), "tables": tables}


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
    """What the largest of so many differences exceeds with this probability, if both laws are one: Student's t, Bonferroni."""
    from scipy.special import stdtrit

    return float(stdtrit(draws - 1, 1 - level / (2 * count)))


def main() -> None:
    """Print the seconds of both ways at one and two threads, their ratios, and whether they agree in law."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--effort", default="quick")
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
          f"numpy {np.__version__}")  # fmt: skip
    print(
        f"{len(plan)} evidence lines of {THEOREM}, {draws} draws at each size: {shown}; L = {DEPTH}, float64, compiled before"
    )
    print(f"{'threads':>7} {'way':>8} {'wall s':>8} {'CPU s':>8} {'ratio of walls':>15} {'of CPU':>7}", flush=True)
    for threads in (1, 2):
        theirs, ours = (timed(way, threads, plan, options) for way in ("numpy", "theorax"))
        print(f"{threads:>7} {'numpy':>8} {theirs['wall']:>8.1f} {theirs['cpu']:>8.1f}")
        print(f"{threads:>7} {'theorax':>8} {ours['wall']:>8.1f} {ours['cpu']:>8.1f} "
              f"{theirs['wall'] / ours['wall']:>15.1f} {theirs['cpu'] / ours['cpu']:>7.1f}")  # fmt: skip
        count, largest = agreement(ours["tables"], theirs["tables"])
        limit = largest_expected(count, draws)
        word = "agree" if largest <= limit else "DO NOT AGREE"
        print(f"        both {word} in law: of {count} means the largest difference is {largest:.1f} standard errors, "
              f"and one in a hundred times it is above {limit:.1f}", flush=True)  # fmt: skip
        if largest > limit:
            sys.exit(1)


if __name__ == "__main__":
    main()
