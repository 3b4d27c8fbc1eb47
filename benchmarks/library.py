"""What the whole library costs: wall and CPU time, programs compiled, peak memory, and each family's slowest entry.

    python benchmarks/library.py [--effort quick] [--jobs N] [SELECTOR ...]

Run it alone on a quiet machine. The run is `verify all --fresh`, or `verify theorem SELECTOR ...`, in a process of its own
with an empty state, so that everything is compiled; times of entries are those of its JSON report. What bounds an entry
is compiling where that takes more than half of its CPU time, and its draws otherwise; draws are told with what one of them
costs, everything but compiling counted. Printed for all entries with --all, and kept under benchmarks/results/ with --keep,
which for the whole library also writes the seconds that a first run expects (`theorax.runs.expected_seconds`) and, at standard
effort, the results that a release ships (`theorax.reports.release`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from theorax.reports import release
from theorax.reports.reading import current
from theorax.runs import expected_seconds
from theorax.theorems.catalogue import Catalogue

RESULTS = Path(__file__).parent / "results"
LIBRARY = Path(__file__).parents[1] / "theorax" / "theorems"
EFFORTS = ("quick", "standard", "thorough")


def run(
    selectors: Sequence[str], effort: str, jobs: int | None, device: str = "cpu"
) -> tuple[dict[str, Any], float, float, float]:
    """The report of the run, its wall and CPU seconds and the peak memory of its largest process in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "theorax", *(("theorem", *selectors) if selectors else ("all",))]
        command += ["--effort", effort, "--fresh", "--state", folder, "--output", f"json={report}"]
        command += ["--jobs", str(jobs)] if jobs else []
        command += ["--device", device] if device != "cpu" else []
        began = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wall = time.perf_counter() - began
        if not report.exists():
            sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return json.loads(report.read_text()), wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def bound(work: Mapping[str, Any]) -> str:
    """Share of an entry's time that compiling and drawing take, in words."""
    cpu, compiling = work["cpu_seconds"], work["compile_seconds"]
    if not cpu:
        return "exact steps"
    share = min(1.0, compiling / cpu)
    told = f"{work['programs']} programs, compiling {share:.0%} of {cpu:.1f} CPU-s"
    if work["draws"]:
        told += f"; {work['draws']} draws at {1e6 * (cpu - compiling) / work['draws']:.0f} us"
    return f"{'compiling' if share > 0.5 else 'draws' if work['draws'] else 'exact steps'}: {told}"


def families(theorems: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Entries by the folder of their file."""
    folders = {file.stem: file.parent.name for file in LIBRARY.glob("*/*.py")}
    found: dict[str, list[Mapping[str, Any]]] = {}
    for part in theorems:
        found.setdefault(folders.get(part["id"], "elsewhere"), []).append(part)
    return found


def table(document: Mapping[str, Any], every: bool) -> Iterator[str]:
    """One row per family and its slowest entry, with its word; every entry if asked."""
    yield f"{'family':24} {'entries':>7} {'CPU s':>7} {'compile s':>9} {'programs':>8} {'draws':>9}"
    for family, parts in sorted(families(document["theorems"]).items()):
        works = [part["work"] for part in parts]
        cpu, compiling = (sum(work[name] for work in works) for name in ("cpu_seconds", "compile_seconds"))
        programs, draws = (sum(work[name] for work in works) for name in ("programs", "draws"))
        yield f"{family:24} {len(parts):7d} {cpu:7.1f} {compiling:9.1f} {programs:8d} {draws:9d}"
        ordered = sorted(parts, key=lambda part: -part["work"]["cpu_seconds"])
        for place, part in enumerate(ordered if every else ordered[:1]):
            name = f"  {'slowest: ' if place == 0 else ''}{part['id']}"
            yield f"{name:52} {part['status']:12} {part['seconds']:6.1f} s, {bound(part['work'])}"


def main() -> None:
    """Run, and print what it cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("selectors", nargs="*", help="theorems instead of the whole library")
    parser.add_argument("--effort", choices=EFFORTS, default="quick")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--all", action="store_true", help="every entry, not the slowest one of a family alone")
    parser.add_argument("--report", type=Path, help="write the JSON report of the run there")
    parser.add_argument("--keep", action="store_true", help="write the printed lines to benchmarks/results/")
    options = parser.parse_args()
    before = os.getloadavg()[0]
    document, wall, cpu, peak = run(options.selectors, options.effort, options.jobs)
    if options.report is not None:
        options.report.write_text(json.dumps(document))
    summary = document["summary"]
    share = summary["compile_share"]
    lines = [
        f"{os.cpu_count()}-core {platform.machine()} CPU, Python {platform.python_version()}, "
        f"jax {metadata.version('jax')}; load before {before:.1f}, after {os.getloadavg()[0]:.1f}",
        f"verify {' '.join(('theorem', *options.selectors)) if options.selectors else 'all'} --effort {options.effort} "
        f"--fresh, nothing compiled before: {wall:.0f} s wall, {cpu:.0f} CPU-s, exit code {summary['exit_code']}",
        f"{summary['theorems']} theorems: {', '.join(f'{count} {name}' for name, count in summary['statuses'].items())}",
        f"{summary['programs']} programs compiled in {summary['compile_seconds']:.0f} CPU-s"
        + (f", {share:.0%} of the CPU time of the checks" if share is not None else "")
        + f"; {summary['draws']} draws; the largest process held {peak:.0f} MiB",
        *table(document, options.all),
    ]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if options.keep:
        (RESULTS / f"library_{options.effort}_cpu.txt").write_text(text)
        if not options.selectors:
            # A blocked theorem was not run, and its zero is no cost.
            seconds = {part["id"]: part["seconds"] for part in document["theorems"]}
            expected_seconds.write_costs(options.effort, {id: spent for id, spent in seconds.items() if spent > 0})
            if options.effort == "standard":
                files = Catalogue.of([LIBRARY])
                size = release.write_release(current(document), files.path)
                print(f"the release ships {size / 1e6:.2f} MB of results")


if __name__ == "__main__":
    main()
