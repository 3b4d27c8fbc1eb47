"""Listeners to a run while it is under way, and what they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from theorax.verifiers.outcome import TheoremOutcome


@dataclass(frozen=True)
class Record:
    """One theorem's outcome in a run; ``kept_from`` is the date of the run that found it, if it was not this one.

    ``is_lasting``: false where nobody can say of which sources it is the outcome.
    """

    outcome: TheoremOutcome
    kept_from: str | None = None
    log: str | None = None
    is_lasting: bool = True


class Listener(Protocol):
    """Is told what happens while it happens."""

    def planned(self, waiting: Sequence[str], expected: Mapping[str, float], jobs: int) -> None:
        """These will be checked; ``expected`` seconds are those of earlier runs, else those of the benchmark."""

    def started(self, id: str) -> None:
        """A check began."""

    def reached(self, id: str, phase: str) -> None:
        """A check under way came to this phase."""

    def finished(self, record: Record) -> None:
        """A theorem has its outcome."""


class Silent:
    """Listens and says nothing."""

    def planned(self, waiting: Sequence[str], expected: Mapping[str, float], jobs: int) -> None:
        """Nothing."""

    def started(self, id: str) -> None:
        """Nothing."""

    def reached(self, id: str, phase: str) -> None:
        """Nothing."""

    def finished(self, record: Record) -> None:
        """Nothing."""
