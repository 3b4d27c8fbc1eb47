"""Deciding on own numbers: a design, a decision on arrays, and `verify data` on long tables with its peak memory.

`python benchmarks/own_numbers.py [rows]`; every file is read by a process of its own, whose peak memory is that of the
operating system. Designs are those of other sds, so none was solved before.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from theorax import decide
from theorax.decide.bias_aware import solve_weights

SIZES = 2.0 ** np.arange(5, 14)
RATE = ("--rate", "error ~ N**-1", "--margin", "0.1")


def timed(action: Callable[[int], object], repetitions: int) -> str:
    """Median and largest milliseconds of the processor, which other work on the machine hardly moves."""
    seconds = []
    for step in range(repetitions):
        began = time.process_time()
        action(step)
        seconds.append(time.process_time() - began)
    return f"{1e3 * float(np.median(seconds)):9.3f} {1e3 * max(seconds):9.3f}"


def in_memory() -> None:
    """Designs and decisions."""
    rng = np.random.default_rng(0)
    print(f"{'in memory':58} {'median ms':>9} {'most ms':>9}")

    def told(name: str, action: Callable[[int], object], repetitions: int) -> None:
        print(f"{name:58} {timed(action, repetitions)}", flush=True)

    def rate_plan(step: int, **given: object) -> decide.RatePlan:
        return decide.plan_rate(SIZES, exponent=-1, margin=0.1, draws=64, sd=0.2 + 1e-6 * step, **given)  # type: ignore[arg-type]

    told("a design of 9 sizes, solved", rate_plan, 100)
    rate_plan(0)
    told("the same design again", lambda _: rate_plan(0), 100)
    values = SIZES**-1 * (1 + 0.4 * (SIZES / 32) ** -0.5) * rng.lognormal(0, 0.2, (64, 9))
    plan = rate_plan(0)
    told("a rate, 64 x 9 draws, its larger classes not yet solved", lambda s: decide.rate(rate_plan(s), values), 50)
    told("a rate, 64 x 9 draws", lambda _: decide.rate(plan, values), 200)
    jackknife = rate_plan(0, average="log of mean")
    told("a rate, log of the mean, 64 x 9 draws", lambda _: decide.rate(jackknife, values), 100)
    many = decide.plan_rate(SIZES, exponent=-1, margin=0.1, draws=100_000)
    long = SIZES**-1 * rng.lognormal(0, 0.2, (100_000, 9))
    told("a rate, 100000 x 9 draws", lambda _: decide.rate(many, long), 5)
    limit = decide.plan_limit(SIZES, to=1.0, margin=0.2, draws=400, sd=0.3)
    limits = 1 + 0.3 * rng.standard_normal((400, 9))
    told("a limit, 400 x 9 draws, light tails", lambda _: decide.limit(limit, limits), 100)
    inside = rng.random((400, 9)) + 0.5
    for moments in (decide.Bounded(0, 2), decide.BoundedVariance(0.1)):
        bounded = decide.plan_limit(SIZES, to=1.0, margin=0.2, draws=400, moments=moments)
        decide.limit(bounded, inside)
        told(f"a limit, 400 x 9 draws, {moments}", lambda _: decide.limit(bounded, inside), 20)  # noqa: B023
    event = decide.plan_probability(at_least=0.99, margin=0.01, draws=2000)
    happened = rng.random(2000) < 0.995
    told("a probability, 2000 draws", lambda _: decide.probability(event, happened), 100)
    solve_weights.cache_clear()


def files(rows: int) -> None:
    """Long tables through the command."""
    rng = np.random.default_rng(1)
    print(f"\n{'verify data':46} {'rows':>10} {'MiB':>6} {'seconds':>8} {'rows/s':>9} {'peak MiB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for count in (rows // 100, rows // 10, rows):
            path = Path(folder) / f"{count}.csv"
            _write(path, count, rng)
            for name, options in (("--seeds independent", ("--seeds", "independent")), ("seeds undeclared", ())):
                _row(f"{name}", path, count, (*RATE, *options))
        _row("--at-most, every row", path, count, ("--at-most", "error <= 1"))
        _row("--average 'log of mean'", path, count, (*RATE, "--average", "log of mean"))


def _row(name: str, path: Path, rows: int, options: tuple[str, ...]) -> None:
    program = (
        "import resource, sys\nfrom theorax.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nfinally:\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, file=sys.stderr)"
    )
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program, "data", str(path), *options], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - began
    if done.returncode not in (0, 1, 4):
        sys.exit(done.stderr)
    peak = float(done.stderr.splitlines()[-1])
    size = path.stat().st_size / 2**20
    print(f"{name:46} {rows:10d} {size:6.0f} {seconds:8.2f} {rows / seconds:9.0f} {peak:9.0f}", flush=True)


def _write(path: Path, rows: int, rng: np.random.Generator) -> None:
    rows -= rows % len(SIZES)
    with path.open("w") as file:
        file.write("N,error\n")
        for _ in range(0, rows, 9 * 10_000):
            count = min(10_000, rows // len(SIZES))
            values = SIZES**-1 * rng.lognormal(0, 0.2, (count, len(SIZES)))
            table = np.stack([np.broadcast_to(SIZES, values.shape), values], axis=2).reshape(-1, 2)
            np.savetxt(file, table, delimiter=",", fmt=("%d", "%.8g"))


def main() -> None:
    """Print the tables."""
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 2_000_000
    print(f"{os.cpu_count()} cores; load before {os.getloadavg()[0]:.1f}")
    in_memory()
    files(rows)
    print(
        f"load after {os.getloadavg()[0]:.1f}; this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB"
    )


if __name__ == "__main__":
    main()
