"""Known answers, decided many times: how often each procedure refutes what is true and supports what is false.

One table of cases drives the tests (`tests/honesty`, `tests/power`: few replicates) and the benchmark
(`python -m benchmarks.calibration`: 2000), so that what is printed and what is gated are the same thing.
"""

from __future__ import annotations

from benchmarks.calibration import (
    controls,
    deterministic,
    events,
    laws,
    limits,
    looks,
    means,
    rates,
    readings,
    slow,
    suites,
    tails,
    variates,
)
from benchmarks.calibration.cases import Case

__all__ = ["FAMILIES", "find"]

FAMILIES = {
    "rates": rates.cases,
    "deterministic": deterministic.cases,
    "limits": limits.cases,
    "slow": slow.cases,
    "looks": looks.cases,
    "means": means.cases,
    "tails": tails.cases,
    "variates": variates.cases,
    "events": events.cases,
    "laws": laws.cases,
    "readings": readings.cases,
    "suites": suites.cases,
    "controls": controls.cases,
}


def find(family: str, key: str) -> Case:
    """The case with this key."""
    return next(case for case in FAMILIES[family]() if case.key == key)
