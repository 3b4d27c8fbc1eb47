"""A live line on a terminal: how many checks are done, which are under way, how long it still takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from theorax.reports.progress import Remaining
from theorax.text.safe import one_line

if TYPE_CHECKING:
    from theorax.runs.runner import Record


class _Left(ProgressColumn):
    """The remaining time, renewed at every refresh."""

    def __init__(self, remaining: Callable[[], Remaining]) -> None:
        super().__init__()
        self._remaining = remaining

    def render(self, task: Task) -> Text:
        return Text(self._remaining().text, style="dim")


class Live:
    """Listens to a run and draws; a context in which the line is shown."""

    def __init__(self, console: Console) -> None:
        self._remaining = Remaining()
        self._busy: list[str] = []
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),  # a name in brackets is a name
            BarColumn(bar_width=16),
            TextColumn("{task.completed}/{task.total}"),
            TimeElapsedColumn(),
            _Left(lambda: self._remaining),
            console=console,
            transient=True,
            refresh_per_second=4,
        )
        self._task = self._progress.add_task("reading", total=None, visible=False)

    def __enter__(self) -> Live:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def planned(self, waiting: Sequence[str], expected: Mapping[str, float], jobs: int) -> None:
        """Begin to count."""
        self._remaining = Remaining(waiting, expected, jobs)
        self._progress.update(self._task, total=len(waiting), visible=bool(waiting))

    def started(self, id: str) -> None:
        """Name it."""
        self._busy.append(id)
        self._remaining.started(id)
        self._describe()

    def finished(self, record: Record) -> None:
        """Count it."""
        id = record.outcome.id
        if id in self._busy:
            self._busy.remove(id)
            self._progress.advance(self._task)
        self._remaining.finished(id)
        self._describe()

    def _describe(self) -> None:
        shown = self._busy[0] if self._busy else "finishing"
        more = f" and {len(self._busy) - 1} more" if len(self._busy) > 1 else ""
        self._progress.update(self._task, description=one_line(f"{shown}{more}"))
