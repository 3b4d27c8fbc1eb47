"""Other processes that draw for one theorem: the draws of its lines, in portions, ahead of the claims that ask for them.

A portion is some consecutive draws of one line at all its sizes. Draw i is a function of names and of i, so that a table
is the same, bit by bit, whoever drew which portion of it.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from theorax.numerics.processes import end_now, worker_processes
from theorax.verifiers.planned_checks import Place

__all__ = ["Crew", "DrawnPortion", "Portion", "Tables"]

Tables: TypeAlias = tuple[Mapping[str, np.ndarray], ...]


@dataclass(frozen=True)
class Portion:
    """Draws ``first`` .. ``first + count - 1`` of the line at this place."""

    place: Place
    first: int
    count: int


@dataclass(frozen=True)
class DrawnPortion:
    """The tables of a portion at every size, the bounds of their errors, and the CPU seconds that they took."""

    tables: Tables
    errors: Tables
    cpu_seconds: float


class Crew:
    """So many other processes; ``draw``, the importable path ``module:function`` of a function of a portion and ``given``.

    The processes start with the first portion that is handed over. ``reading``: CPU seconds that reading the theorem took
    here, as it will there.
    """

    def __init__(self, count: int, draw: str, *given: object, reading: float = 0.0) -> None:
        self.count, self.reading = count, reading
        self.cpu_seconds = 0.0
        self.is_running = False  # true once anything was handed over
        self._draw, self._given = draw, given
        self._executor = worker_processes(count)
        # One portion in flight for each process; the others wait here, where they can be taken back.
        self._waiting: dict[Portion, None] = {}
        self._begun: dict[Portion, Future[DrawnPortion]] = {}
        self._lock = threading.RLock()

    def hand_over(self, portions: Iterable[Portion]) -> None:
        """Let others draw these, the first of them first; one that they have already stays as it is."""
        self.is_running = True
        with self._lock:
            self._waiting |= dict.fromkeys(part for part in portions if part not in self._begun)
        self._feed()

    def take_back(self, portion: Portion | None = None) -> Portion | None:
        """A portion that nobody has begun, this one or the last there is, to be drawn by who asks; None if there is none."""
        with self._lock:
            found = next(reversed(self._waiting), None) if portion is None else portion
            if found is None or found not in self._waiting:
                return None
            del self._waiting[found]
            return found

    def is_done(self, portion: Portion) -> bool:
        """True if nobody is drawing the portion: it is drawn, or was never begun."""
        return portion not in self._begun or self._begun[portion].done()

    def result(self, portion: Portion) -> DrawnPortion | None:
        """The portion, once it is drawn; None if it is not to be had: never begun, or it failed, or its process died."""
        with self._lock:
            future = self._begun.pop(portion, None)
        try:
            found = None if future is None else future.result()
        except Exception:  # whoever asks draws it again, and meets the same error in its own process
            return None
        self.cpu_seconds += 0.0 if found is None else found.cpu_seconds
        return found

    def _feed(self, ended: Future[DrawnPortion] | None = None) -> None:
        """Let a process that is idle begin the next portion."""
        if ended is not None and (ended.cancelled() or isinstance(ended.exception(), BrokenExecutor)):
            return  # its executor holds a lock that another task would wait for
        with self._lock:
            busy = sum(not future.done() for future in self._begun.values())
            try:
                while busy < self.count and (portion := next(iter(self._waiting), None)) is not None:
                    self._begun[portion] = self._executor.submit(_drawn, self._draw, portion, *self._given)
                    del self._waiting[portion]
                    self._begun[portion].add_done_callback(self._feed)
                    busy += 1
            except RuntimeError:  # a process died, or all were ended: what waits is drawn by who asks for it
                self._waiting.clear()

    def close(self) -> None:
        """End the processes, whatever they are at."""
        with self._lock:
            self._waiting.clear()
        end_now(self._executor)


def _drawn(draw: str, portion: Portion, *given: object) -> DrawnPortion:
    module, _, name = draw.partition(":")
    found: DrawnPortion = getattr(importlib.import_module(module), name)(portion, *given)
    return found
