"""What light code saves and costs: the programs of some theorems in both codes, compiled and drawn side by side.

    python benchmarks/compiling.py [ID ...] > benchmarks/results/compiling_cpu.txt

A row is a program: the work of a draw on entries, CPU seconds of the compiler for light and for full code, microseconds of a
draw in either, and which one theorax takes. The last row adds up what was taken and what full code alone would have cost.
"""

from __future__ import annotations

import argparse
import math
import os
import platform as host
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any
from unittest import mock

import jax
import numpy as np

from theorax.numerics import compiling, platform, sampler
from theorax.runs.checking import check
from theorax.verifiers.settings import Settings

IDS = (
    "rank_collapse_width",
    "path_kernel_action",
    "heavy_tailed_products",
    "scalar_saddle_closed_form",
    "linear_envelope",
    "depth_width_order_of_limits",
    "sampler_checks",
    "markov_circular_law",
    "ckd_energy_identity",
    "gradient_norm_exact",
)


def _seconds(call: Any, *arguments: Any) -> float:
    """The least CPU seconds of three calls."""
    found = math.inf
    for _ in range(3):
        start = time.process_time()
        jax.block_until_ready(call(*arguments))
        found = min(found, time.process_time() - start)
    return found


@dataclass
class Both:
    """A program in light and in full code: its first call times a draw in either, later ones run what theorax takes."""

    device: str
    work: float
    seconds: dict[str, float]
    codes: dict[str, Any]
    draw: dict[str, float] = field(default_factory=dict)

    @property
    def taken(self) -> str:
        """The code that theorax takes."""
        return "light" if compiling.is_light(self.device, self.work) else "full"

    def memory_analysis(self) -> Any:
        """The compiler's account of the code that is taken."""
        return self.codes[self.taken].memory_analysis()

    def __call__(self, arguments: Any, words: Any, start: Any, count: Any) -> Any:
        """The draws; a first call of two or more is timed in both codes, less one of a single draw."""
        for name, code in self.codes.items() if not self.draw and count > 1 else ():
            all_of, one = (_seconds(code, arguments, words, start, np.int32(number)) for number in (count, 1))
            self.draw[name] = max(all_of - one, 1e-9) / (int(count) - 1)
        return self.codes[self.taken](arguments, words, start, count)


def programs(theorem_id: str, state: str) -> list[Both]:
    """Every program of the theorem's check at quick effort."""
    found: list[Both] = []

    def both(lowered: Any, device: str, work: float, *, few: bool) -> Any:
        """Both codes of a program, in the place of the one that theorax would take."""
        if few:
            return compiling.compiled(lowered, device, few=True)
        codes, seconds = {}, {}
        for name, cost in (("light", 0.0), ("full", math.inf)):
            begun = time.process_time()
            codes[name] = compiling.compiled(lowered, device, cost)
            seconds[name] = time.process_time() - begun
        found.append(Both(device, work, seconds, codes))
        return found[-1]

    with mock.patch.object(sampler, "compiled", both):
        check(theorem_id, Settings(effort="quick", state=state))
    return [program for program in found if program.draw]


def rows(ids: list[str], state: str) -> Iterator[str]:
    """The table."""
    where = f"{os.cpu_count()}-core {host.machine()} CPU, Python {host.python_version()}, jax {metadata.version('jax')}"
    yield where
    yield f"{'program of':32} {'work':>8} {'light s':>8} {'full s':>8} {'light us':>9} {'full us':>9} taken"
    every = []
    for theorem_id in ids:
        for program in programs(theorem_id, state):
            every.append(program)
            seconds, draw = program.seconds, {name: 1e6 * value for name, value in program.draw.items()}
            yield (
                f"{theorem_id:32} {program.work:8.1e} {seconds['light']:8.2f} {seconds['full']:8.2f} "
                f"{draw['light']:9.1f} {draw['full']:9.1f} {program.taken}"
            )
    taken, full = (sum(part.seconds[name or part.taken] for part in every) for name in ("", "full"))
    slower = sorted(part.draw[part.taken] / part.draw["full"] for part in every)
    middle, most = slower[len(slower) // 2], slower[-1]
    yield (
        f"{len(every)} programs: compiled in {taken:.1f} CPU-s, in full in {full:.1f}; a draw takes {middle:.2f} times as long "
        f"as in full code in the middle, {most:.2f} at most"
    )


def main() -> None:
    """Print the table for the theorems that are named, or for ten of all kinds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", default=list(IDS), metavar="ID")
    platform.enable()
    with tempfile.TemporaryDirectory() as state:
        for row in rows(parser.parse_args().ids, state):
            print(row, flush=True)


if __name__ == "__main__":
    main()
