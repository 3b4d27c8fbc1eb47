"""What the complete check of `rank_collapse_width` costs, beside the NumPy notebook of its evidence alone.

    python benchmarks/main_job.py [--rounds 3] [--effort quick --effort standard] [--keep]

The unit is 100 singular value decompositions of order 256 by `numpy.linalg.svd` with one thread: it moves with the machine
as the job does. The notebook draws the two evidence lines in NumPy, 256 draws at T = 64, 120, 256, and measures the sum of
fourth powers without the largest singular value, from all singular values or from the eigenvalues of the Gram matrix. The
check is the command as it is typed, with its controls, wrong variants and proofs: cold, with an empty state folder and
nothing compiled, and warm. Unit, notebooks and checks take turns, so that a ratio compares neighbours in time; printed are
medians of the rounds. Walls with one and two jobs need two cores that are free.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
THEOREM, SIZES, DRAWS, DEPTH = "rank_collapse_width", (64, 120, 256), 256, 2
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

UNIT = """
import numpy as np
A = np.random.default_rng(0).standard_normal((256, 256))
begin()
for _ in range(100):
    np.linalg.svd(A)
"""
NOTEBOOK = """
import numpy as np
rng = np.random.default_rng(0)
begin()
for weights in ("exponential", "uniform"):
    for T in {sizes}:
        d, tails = 2 * T, []
        for _ in range({draws}):
            X = np.linalg.qr(rng.standard_normal((d, T)))[0].T
            for _ in range({depth}):
                A = rng.exponential(size=(T, T)) if weights == "exponential" else rng.uniform(size=(T, T))
                X = A / A.sum(axis=1, keepdims=True) @ X @ (rng.standard_normal((d, d)) / np.sqrt(d))
                {squares}
                tails.append(np.sum(s2[:-1] ** 2) / s2[-1] ** 2)
"""
SQUARES = {
    "singular values": "s2 = np.linalg.svd(X, compute_uv=False)[::-1] ** 2",
    "Gram eigenvalues": "s2 = np.linalg.eigvalsh(X @ X.T)",
}


def notebook(squares: str) -> str:
    """The text of a notebook cell that measures the evidence."""
    return NOTEBOOK.format(sizes=SIZES, draws=DRAWS, depth=DEPTH, squares=SQUARES[squares])


def cpu_of(program: str) -> float:
    """CPU seconds of a program, in a process of its own, from where it says `begin()`."""
    text = "import time\ndef begin():\n    global begun\n    begun = time.process_time()\n" + program
    text += "\nprint(time.process_time() - begun)"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, env={**os.environ, **ONE_THREAD}
    )
    return float(done.stdout)


def check(effort: str, state: str, jobs: int) -> tuple[float, float, dict[str, object]]:
    """CPU and wall seconds of the command, children included, and the work in its report."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "theorax", "theorem", THEOREM, "--effort", effort, "--fresh", "--state", state]
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(
            [*command, "--jobs", str(jobs), "-o", f"json={report}"], capture_output=True, text=True, check=False
        )
        wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return cpu, wall, json.loads(report.read_text())["theorems"][0]["work"]


def main() -> None:
    """Print CPU seconds, units and ratios to the notebooks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--effort", action="append", choices=("quick", "standard", "thorough"))
    parser.add_argument("--keep", action="store_true", help="write the printed lines to benchmarks/results/")
    options = parser.parse_args()
    efforts = options.effort or ["quick", "standard"]
    rows: dict[str, list[float]] = {}
    walls: dict[str, list[float]] = {}
    draws: dict[str, object] = {}

    def measured(name: str, measure: Callable[[], float]) -> None:
        rows.setdefault(name, []).append(measure())

    def checked(name: str, effort: str, state: str, jobs: int = 1) -> None:
        cpu, wall, work = check(effort, state, jobs)
        rows.setdefault(name, []).append(cpu)
        walls.setdefault(name, []).append(wall)
        draws[name] = work["draws"]

    load = os.getloadavg()[0]
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as state:
            measured("unit", lambda: cpu_of(UNIT))
            for squares in SQUARES:
                measured(f"NumPy notebook, {squares}", lambda squares=squares: cpu_of(notebook(squares)))
            for effort in efforts:
                with tempfile.TemporaryDirectory() as empty:
                    checked(f"check, {effort}, cold", effort, empty)
                check(effort, state, 1)
                checked(f"check, {effort}, warm", effort, state)
                checked(f"check, {effort}, warm, two jobs", effort, state, 2)
    unit, gram = (statistics.median(rows[name]) for name in ("unit", "NumPy notebook, Gram eigenvalues"))
    lines = [
        f"{os.cpu_count()}-core {platform.machine()} CPU, Python {platform.python_version()}, jax {metadata.version('jax')}, "
        f"numpy {metadata.version('numpy')}; load before {load:.1f}, after {os.getloadavg()[0]:.1f}; "
        f"medians of {options.rounds}",
        f"unit: 100 numpy.linalg.svd of order 256 in {unit:.2f} CPU-s",
        f"{'':36} {'CPU s':>8} {'units':>8} {'of the Gram notebook':>21} {'wall s':>8} {'draws':>8}",
    ]
    for name, seconds in rows.items():
        if name != "unit":
            cpu = statistics.median(seconds)
            wall = f"{statistics.median(walls[name]):8.1f}" if name in walls else f"{'':8}"
            lines.append(f"{name:36} {cpu:8.1f} {cpu / unit:8.1f} {cpu / gram:21.2f} {wall} {draws.get(name, ''):>8}")
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if options.keep:
        (RESULTS / "main_job_cpu.txt").write_text(text)


if __name__ == "__main__":
    main()
