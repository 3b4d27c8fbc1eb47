"""Progress of a run: a line for each finished check, and the time that the rest still takes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

from theorax.reports.last_screen import check_line
from theorax.text.numbers import duration
from theorax.text.plain import terminal_width

if TYPE_CHECKING:
    from theorax.runs.listening import Record


def line(record: Record, number: int, total: int) -> str:
    """One finished check in one line."""
    took = "kept" if record.kept_from else duration(record.outcome.work.seconds)
    return check_line(number, total, record.outcome.status, record.outcome.id, took)


class ProgressLines:
    """One line per finished check."""

    def __init__(self, write: Callable[[str], None], total: int) -> None:
        self._write = write
        self._total = total
        self._finished = 0

    def planned(self, waiting: Sequence[str], expected: Mapping[str, float], jobs: int) -> None:
        """Nothing to tell."""

    def started(self, id: str) -> None:
        """Nothing to tell."""

    def reached(self, id: str, phase: str) -> None:
        """Nothing to tell."""

    def finished(self, record: Record) -> None:
        """Tell it."""
        self._finished += 1
        self._write(line(record, self._finished, self._total))


class Remaining:
    """Estimate the remaining time of a run from the times of the same checks in earlier runs, or in the benchmark."""

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
        self._first: float | None = None  # when the first check began
        self._ratios: list[float] = []  # actual to expected, of what has finished

    def started(self, id: str) -> None:
        """A check began."""
        self._began[id] = self._clock()
        self._first = self._began[id] if self._first is None else self._first

    def finished(self, id: str) -> None:
        """A check ended, or was found to need none."""
        if id in self._waiting:
            self._waiting.remove(id)
        began = self._began.pop(id, None)
        if began is not None and self._expected.get(id):
            self._ratios.append((self._clock() - began) / self._expected[id])

    @property
    def seconds(self) -> float | None:
        """Seconds left; None while no check was ever timed. A check without a time counts as the median of the others."""
        if not self._expected:
            return None if self._waiting else 0.0
        usual, pace = median(self._expected.values()), median(self._ratios) if self._ratios else 1.0
        now = self._clock()
        left = [
            max(0.0, pace * self._expected.get(id, usual) - (now - self._began.get(id, now))) for id in self._waiting
        ]
        # However many work, the longest check that is left takes its own time.
        return max(sum(left) / self._jobs, 0.0, *left)

    @property
    def share(self) -> float | None:
        """Share of the expected time of the whole run that has passed, below one; None without an expectation."""
        left = self.seconds
        if left is None or self._first is None:
            return None
        passed = self._clock() - self._first
        return min(0.99, passed / (passed + left)) if passed + left > 0 else 0.0

    @property
    def text(self) -> str:
        """The remaining time in words."""
        seconds = self.seconds
        if seconds is None or not self._waiting:
            return "remaining time not known yet: first run" if seconds is None else ""
        return f"about {duration(max(1.0, round(seconds)))} left" if seconds >= 1 else "almost done"


def progress_line(
    done: int, total: int, busy: Mapping[str, str], left: str, width: int = 79, share: float | None = None
) -> str:
    """The state of a run on one line of at most ``width`` columns; a long name is cut in its middle.

    ``busy``: the phase of each theorem under way. ``share`` of the expected time stands for the count of a single one.

    >>> progress_line(12, 73, {"fixed_net_stable_rank": "drawing 12/32"}, "about 4 min left")
    '[12/73] fixed_net_stable_rank  drawing 12/32  about 4 min left'
    >>> progress_line(0, 1, {"outlier_identity": "proving"}, "about 9 s left", share=0.25)
    '[ 25 %] outlier_identity  proving  about 9 s left'
    >>> progress_line(0, 2, {"a" * 90: ""}, "", 20)
    '[0/2] aaaaaa…aaaaaaa'
    """
    head = f"[{done:>{len(str(total))}}/{total}] "
    if total == 1 and share is not None:
        head = f"[{math.floor(100 * share):>3} %] "
    named, phase = next(iter(busy.items()), ("finishing", ""))
    tail = (f" and {len(busy) - 1} more" if len(busy) > 1 else "") + "".join(
        f"  {part}" for part in (phase, left) if part
    )
    room = max(3, width - terminal_width(head) - terminal_width(tail))
    if terminal_width(named) > room:
        named = f"{named[: (room - 1) // 2]}…{named[len(named) - room // 2 :]}"
    return f"{head}{named}{tail}"
