"""Counting in several processes: cases are named by family and place, replicates by number."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from benchmarks.calibration import FAMILIES
from benchmarks.calibration.cases import Case, Tally, tally

__all__ = ["measure"]

CHUNK = 250


def _task(family: str, index: int, start: int, stop: int) -> dict[str, Tally]:
    return tally(FAMILIES[family]()[index], range(start, stop))


def _chunks(case: Case, replicates: int) -> Iterator[tuple[int, int]]:
    wanted = min(replicates, case.replicates or replicates)
    for start in range(0, wanted, CHUNK):
        yield start, min(start + CHUNK, wanted)


def measure(family: str, replicates: int, workers: int, only: str = "") -> list[tuple[Case, dict[str, Tally]]]:
    """All cases of a family (or those whose key contains the text), in their order."""
    cases = FAMILIES[family]()
    chosen = [(index, case) for index, case in enumerate(cases) if only in case.key]
    tasks = [(index, *chunk) for index, case in chosen for chunk in _chunks(case, replicates)]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        futures = [(task[0], pool.submit(_task, family, *task)) for task in tasks]
        counted: dict[int, dict[str, Tally]] = {}
        for index, future in futures:
            part = future.result()
            before = counted.get(index)
            counted[index] = part if before is None else {name: before[name] + part[name] for name in part}
    return [(case, counted[index]) for index, case in chosen]
