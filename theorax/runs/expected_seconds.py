"""Seconds that each theorem of the library took in the benchmark, by effort: a first run expects as much."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "expected_seconds.json"
"""Written by `python benchmarks/library.py --keep`: by effort and theorem, seconds with nothing compiled before."""


@cache
def _shipped() -> Mapping[str, Mapping[str, float]]:
    found: Mapping[str, Mapping[str, float]] = json.loads(FILE.read_text("utf-8"))
    return found


def shipped_seconds(effort: str) -> Mapping[str, float]:
    """Seconds of each theorem at this effort; none where it was not measured."""
    return _shipped().get(effort, {})


def write_costs(effort: str, seconds: Mapping[str, float]) -> None:
    """Keep what a run of the whole library measured at this effort in the place of what was there."""
    found = {**_shipped(), effort: {id: round(value, 1) for id, value in sorted(seconds.items())}}
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
