"""Progress of a run: a line for each finished check, and the time that the rest still takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from theorax.reports.theorem_text import moment
from theorax.text.numbers import duration
from theorax.text.signs import signed

if TYPE_CHECKING:
    from theorax.runs.runner import Record


def line(record: Record) -> str:
    """One finished check in one line."""
    outcome = record.outcome
    took = f"kept from {moment(record.kept_from)}" if record.kept_from else duration(outcome.work.seconds)
    told = f"{signed(outcome.status):<14} {outcome.id}  ({took})"
    if outcome.status.holds or not outcome.reason:
        return told
    return f"{told}  {outcome.reason.splitlines()[0]}"


class ProgressLines:
    """One line per finished check."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write

    def planned(self, waiting: Sequence[str], expected: Mapping[str, float], jobs: int) -> None:
        """Nothing to tell."""

    def started(self, id: str) -> None:
        """Nothing to tell."""

    def finished(self, record: Record) -> None:
        """Tell it."""
        self._write(line(record).rstrip())


class Remaining:
    """Estimate the remaining time of a run from the times of the same checks in earlier runs."""

    def __init__(
        self,
        waiting: Sequence[str] = (),
        expected: Mapping[str, float] | None = None,
        jobs: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._waiting = list(waiting)
        self._expected = dict(expected or {})
        self._jobs = jobs
        self._clock = clock
        self._began: dict[str, float] = {}

    def started(self, id: str) -> None:
        """A check began."""
        self._began[id] = self._clock()

    def finished(self, id: str) -> None:
        """A check ended, or was found to need none."""
        if id in self._waiting:
            self._waiting.remove(id)
        self._began.pop(id, None)

    @property
    def seconds(self) -> float | None:
        """Seconds left; None while a check under way or waiting has never been timed."""
        if any(id not in self._expected for id in self._waiting):
            return None
        now = self._clock()
        left = [max(0.0, self._expected[id] - (now - self._began.get(id, now))) for id in self._waiting]
        # However many work, the longest check that is left takes its own time.
        return max(sum(left) / self._jobs, 0.0, *left)

    @property
    def text(self) -> str:
        """The remaining time in words."""
        seconds = self.seconds
        if seconds is None or not self._waiting:
            return "remaining time not known yet: first run" if seconds is None else ""
        return f"about {duration(max(1.0, round(seconds)))} left" if seconds >= 1 else "almost done"
