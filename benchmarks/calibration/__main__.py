"""Measure the rates of every family (or of those named) and write one table each.

    python -m benchmarks.calibration [FAMILY ...] [--replicates 2000] [--workers 2] [--only TEXT] [--output DIRECTORY]

Run from the root of the repository. Replicate i of a case is a function of the case's name and of i: numbers of
workers and orders of families change nothing. Ends with status 1 where a procedure breaks a promise.
"""

# ruff: noqa: E402  (thread counts are read when the libraries are imported)
from theorax.numerics.threads import one_thread

one_thread()

import argparse
import platform
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.calibration import FAMILIES
from benchmarks.calibration.cases import most
from benchmarks.calibration.running import measure
from benchmarks.calibration.tables import LEGEND, lines, verdict

RESULTS = Path(__file__).parents[1] / "results"


def _versions() -> str:
    found = [f"python {platform.python_version()}"]
    for name in ("theorax", "numpy", "scipy", "clarabel", "jax"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} from the source tree")
    return ", ".join(found)


def main(arguments: list[str] | None = None) -> int:
    """Measure, write, and say whether every promise held."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__.partition("\n")[0])
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(FAMILIES)}; all if none is named")
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="cases whose name contains this text; nothing is written then")
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    if unknown := set(given.families) - set(FAMILIES):
        parser.error(f"no family {', '.join(sorted(unknown))}; there are {', '.join(FAMILIES)}")
    broken = 0
    for family in given.families or FAMILIES:
        start = time.perf_counter()
        counted = measure(family, given.replicates, given.workers, given.only)
        seconds = time.perf_counter() - start
        failing = sum(
            verdict(case, procedure, tallies[procedure.name]).startswith("FAILS")
            for case, tallies in counted
            for procedure in case.procedures
        )
        promised = sum(procedure.promised for case, _ in counted for procedure in case.procedures)
        n = given.replicates
        text = [
            f"Calibration of {family}: {promised - failing} of {promised} promised rows hold.",
            f"python -m benchmarks.calibration {family} --replicates {n} --workers {given.workers}",
            f"{_versions()}; {seconds:.0f} s with {given.workers} workers.",
            LEGEND.format(most=most(n), n=n),
            *lines(family, counted),
        ]
        if given.only:
            print("\n".join(text))
        else:
            given.output.mkdir(parents=True, exist_ok=True)
            (given.output / f"calibration_{family}.txt").write_text("\n".join(text) + "\n")
            print(f"{text[0]} {seconds:.0f} s", flush=True)
        broken += failing
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
