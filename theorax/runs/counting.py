"""Attempts of a run, counted by the process that coordinates it; whoever checks is told, and writes nothing.

A check has two stages. The first says which claims it is about to try; they are logged here, before any data are drawn.
The second is given its attempts in the settings, and hands back what came of them. Where the check runs changes nothing:
in this process, in a worker, on another machine. A check that is killed between the two leaves attempts without an end,
which are forgotten as those of a run that was killed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from theorax.runs.attempt_log import AttemptFile, fill
from theorax.runs.database import StoreError
from theorax.runs.store import now
from theorax.verifiers.attempts import ClaimVersion, CountedAttempt, SpentAttempts
from theorax.verifiers.outcome import TheoremOutcome
from theorax.verifiers.settings import Settings

if TYPE_CHECKING:
    from theorax.decide.verdict import LoggedAttempt


@dataclass(frozen=True)
class AttemptCounter:
    """Counts the attempts of one theorem's check in a log, by the settings of the check."""

    file: AttemptFile
    settings: Settings

    def counted(self, versions: Sequence[ClaimVersion]) -> Settings:
        """The settings for the second stage: every attempt is logged.

        **Raises:** StoreError if a number that was given cannot be logged.
        """
        found = tuple(CountedAttempt(version, self._begun(version)) for version in versions)
        return replace(self.settings, attempts=found)

    def _begun(self, version: ClaimVersion) -> LoggedAttempt | None:
        """The attempt, logged now; None if the log cannot be written, which the verdict then says.

        **Raises:** StoreError if a number that was given, for a log that may not know it, cannot be logged.
        """
        least, seed = self.settings.attempt, self.settings.seed
        try:
            if least > 1 and self.file.next_number(version, seed) < least:
                fill(self.file, version, least, now())
            entry = self.file.begin(version, seed, now())
        except StoreError:
            if least > 1:
                raise
            return None
        # A seed that was logged before keeps its number there, and spends no more than what was given allows.
        return replace(entry, number=max(entry.number, least))

    def closed(self, spent: SpentAttempts, outcome: TheoremOutcome | None) -> TheoremOutcome | None:
        """The outcome of a check whose attempts are logged as spent; its verdicts say so where that failed."""
        if not spent.statuses:
            return outcome
        try:
            self.file.finish(spent.statuses, self.settings.seed)
        except StoreError:
            if outcome is not None:
                from theorax.verifiers.claim_verdicts import unlogged

                return replace(outcome, claims=tuple(map(unlogged, outcome.claims)))
        return outcome
