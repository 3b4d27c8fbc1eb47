"""The CPU time that each guard takes of a check, over the library or the theorems named.

    python benchmarks/guard_costs.py [--effort quick] [ID ...]

Every theorem is checked in this process, with an empty state and nothing compiled before, and each function of
`theorax.verifiers.guards.GUARDS` is timed, as is the look at how keys are used. What guards ask for before the draws (more
instances for a content, more draws for a tail) is part of the designs and not counted here, and neither are the limits
that `decide` adds to an interval. CPU seconds are those of the process with all of its threads, so other work on the machine
moves the shares little. Kept under benchmarks/results/ where the whole library was asked for.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from importlib import metadata
from pathlib import Path
from typing import Any

from theorax.numerics import platform as device
from theorax.numerics.sampler import Sampler
from theorax.runs.checking import check
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers import guards
from theorax.verifiers.settings import Settings

RESULTS = Path(__file__).parent / "results"
KEYS = "use of keys"


class Clock:
    """CPU seconds by name; what several guards share counts for the first that asks for it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, its CPU seconds added to those of the name."""

        @wraps(function)
        def measured(*given: Any, **named: Any) -> Any:
            began = time.process_time()
            try:
                return function(*given, **named)
            finally:
                self.seconds[name] += time.process_time() - began

        return measured


def main() -> None:
    """Check, and print what guards cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="*", help="theorems instead of the whole library")
    parser.add_argument("--effort", choices=("quick", "standard", "thorough"), default="quick")
    options = parser.parse_args()
    clock = Clock()
    guards.GUARDS = tuple(clock.timed(guard.__name__, guard) for guard in guards.GUARDS)
    Sampler.key_use = clock.timed(KEYS, Sampler.key_use)  # type: ignore[method-assign]
    total, rows = 0.0, []
    with tempfile.TemporaryDirectory() as folder:
        device.enable(cache_dir=Path(folder) / "compiled")
        for name in options.ids or Catalogue().ids:
            before, spent = sum(clock.seconds.values()), time.process_time()
            status = check(name, Settings(effort=options.effort, fresh=True, state=folder)).status
            spent = time.process_time() - spent
            total += spent
            rows.append((sum(clock.seconds.values()) - before, spent, name, status))
            device.forget_programs()
    seconds = sum(clock.seconds.values())
    ordered = sorted(clock.seconds.items(), key=lambda row: -row[1])
    longest = sorted(rows, reverse=True)[:10]
    lines = [
        f"{os.cpu_count()}-core {platform.machine()} CPU, Python {platform.python_version()}, jax {metadata.version('jax')}",
        f"{len(rows)} theorems at {options.effort} effort: {total:.0f} CPU-s, guards {seconds:.0f} ({seconds / total:.1%})",
        f"with guards {total / (total - seconds):.3f} times the {total - seconds:.0f} CPU-s without them",
        *(f"{name:24} {spent:8.1f} CPU-s {spent / total:6.1%}" for name, spent in ordered),
        "the ten theorems whose guards take longest:",
        *(f"{name:40} {status:12} {own:6.1f} of {spent:6.1f} CPU-s" for own, spent, name, status in longest),
    ]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if not options.ids:
        (RESULTS / f"guard_costs_{options.effort}.txt").write_text(text)


if __name__ == "__main__":
    main()
