"""A live line on a terminal: how many checks are done, which are under way, how long it still takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress, ProgressColumn, Task
from rich.text import Text

from theorax.reports.progress import Remaining, progress_line
from theorax.text.safe import one_line

if TYPE_CHECKING:
    from theorax.runs.listening import Record

WIDTH = 79  # columns: a terminal of 80 wraps no line


class _Line(ProgressColumn):
    """The whole line, renewed at every refresh."""

    def __init__(self, told: Callable[[int], str]) -> None:
        super().__init__()
        self._told = told

    def render(self, task: Task) -> Text:
        return Text(self._told(int(task.completed)), no_wrap=True, overflow="crop")


class Live:
    """Listens to a run and draws; a context in which the line is shown."""

    def __init__(self, console: Console) -> None:
        self._remaining = Remaining()
        self._busy: dict[str, str] = {}  # the phase of each check under way
        self._total = 0
        self._width = min(WIDTH, max(20, console.width - 1))
        self._progress = Progress(_Line(self._told), console=console, transient=True, refresh_per_second=4)
        self._task = self._progress.add_task("reading", total=None, visible=False)

    def _told(self, done: int) -> str:
        left = self._remaining
        return progress_line(done, self._total, dict(self._busy), left.text, self._width, left.share)

    def __enter__(self) -> Live:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def planned(self, waiting: Sequence[str], expected: Mapping[str, float], jobs: int) -> None:
        """Begin to count."""
        self._total = len(waiting)
        self._remaining = Remaining(waiting, expected, jobs)
        self._progress.update(self._task, total=len(waiting), visible=bool(waiting))

    def started(self, id: str) -> None:
        """Name it."""
        self._busy[one_line(id)] = ""
        self._remaining.started(id)

    def reached(self, id: str, phase: str) -> None:
        """Name its phase."""
        if one_line(id) in self._busy:
            self._busy[one_line(id)] = one_line(phase)

    def finished(self, record: Record) -> None:
        """Count it."""
        id = record.outcome.id
        if self._busy.pop(one_line(id), None) is not None:
            self._progress.advance(self._task)
        self._remaining.finished(id)
