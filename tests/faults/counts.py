"""Counts of a pass of the harness: what was tried, and what broke a promise."""

from __future__ import annotations

from dataclasses import dataclass, field

PROMISES = (
    "finished work lost",
    "wrongly green",
    "orphans",
    "tracebacks for a user's mistake",
    "wrong exit codes",
    "losses without a word",
)


@dataclass
class Counts:
    """Numbers of trials by their sort, and a line for every promise that one of them broke."""

    tried: dict[str, int] = field(default_factory=dict)
    broken: dict[str, list[str]] = field(default_factory=lambda: {promise: [] for promise in PROMISES})
    outcomes: dict[str, int] = field(default_factory=dict)  # of the kills, by how the command ended

    def count(self, sort: str, number: int = 1) -> None:
        """Count trials of a sort."""
        self.tried[sort] = self.tried.get(sort, 0) + number

    def ended(self, how: str) -> None:
        """Count an end of the command."""
        self.outcomes[how] = self.outcomes.get(how, 0) + 1

    def breaks(self, promise: str, trial: str) -> None:
        """Note that a trial broke a promise."""
        self.broken[promise].append(trial)

    def __str__(self) -> str:
        lines = [f"{promise}: {trial}" for promise, trials in self.broken.items() for trial in trials]
        lines += [f"ended with {how}: {number}" for how, number in sorted(self.outcomes.items())]
        lines += [f"{sort}: {number}" for sort, number in self.tried.items()]
        return "\n".join([*lines, *(f"{promise}: {len(trials)}" for promise, trials in self.broken.items())])
