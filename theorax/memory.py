"""Memory of this process: how much it holds, and giving back what was compiled and simplified for work that is done."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

__all__ = ["GROWTH", "Caches", "most_resident", "resident"]

GROWTH = 600.0
"""Megabytes by which a process may grow before it lets go of what it compiled and simplified."""


def resident() -> float:
    """Megabytes of memory that this process holds; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return 0.0


def most_resident() -> float:
    """The most megabytes that this process has held so far; 0 where the system does not say."""
    try:
        rows = Path("/proc/self/status").read_text("ascii").splitlines()
    except OSError:
        return 0.0
    return next((int(row.split()[1]) * 1024 / 1e6 for row in rows if row.startswith("VmHWM:")), 0.0)


class Caches:
    """JAX's compiled programs and SymPy's results in a process that does one piece of work after another.

    They grow with every piece and serve few pieces but their own.
    """

    def __init__(self) -> None:
        self._least = resident()

    def empty_if_grown(self) -> None:
        """Empty them where the process has grown by `GROWTH` since they last were."""
        if resident() > self._least + GROWTH:
            self.empty()

    def empty(self) -> None:
        """Empty them; libraries that this process has not imported are left alone."""
        if "jax" in sys.modules:
            sys.modules["jax"].clear_caches()
        if "sympy.core.cache" in sys.modules:
            sys.modules["sympy.core.cache"].clear_cache()
        gc.collect()
        self._least = resident()
