"""One theorem checked in a run: its attempts and its nights are counted in the store.

The functions here are named by their importable path (`theorax.runs.checking:check`), so that a worker process, a test
and a replay all start a check in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from theorax.decide.status import Status
from theorax.decide.verdict import LoggedAttempt
from theorax.language import Theorem
from theorax.runs.attempt_log import AttemptFile, fill
from theorax.runs.sources import drawn_from
from theorax.runs.store import StoreError, now
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers import theorem_check
from theorax.verifiers.attempts import ClaimVersion
from theorax.verifiers.outcome import Checked, TheoremOutcome
from theorax.verifiers.settings import Pilot, Settings, TheoremPlan


@dataclass(frozen=True)
class StoredAttempts:
    """The log of attempts and nights that the state's folder keeps."""

    file: AttemptFile

    def begin(self, version: ClaimVersion, seed: int) -> LoggedAttempt | None:
        """Log that data of this seed are about to be drawn; None if the log cannot be written."""
        try:
            return self.file.begin(version, seed, now())
        except StoreError:
            return None

    def finish(self, statuses: Mapping[ClaimVersion, Status], seed: int) -> bool:
        """Log what came of these attempts; False if the log cannot be written."""
        try:
            self.file.finish(statuses, seed)
        except StoreError:
            return False
        return True

    def next_number(self, version: ClaimVersion, seed: int) -> int:
        """The number that an attempt with this seed would have; nothing is logged."""
        return self.file.next_number(version, seed)

    def nights(self, version: ClaimVersion, night: int, p: Sequence[float]) -> Sequence[Sequence[float]]:
        """Keep the p-values of this night; those of all nights up to it, in their order.

        **Raises:** StoreError if the store cannot be written: a night that is not kept would be left out of the process.
        """
        return self.file.nights(version, night, p)


def check(theorem_id: str, settings: Settings) -> TheoremOutcome:
    """Check one theorem.

    **Raises:** as `observe`.
    """
    return observe(theorem_id, settings).outcome


def observe(theorem_id: str, settings: Settings, kept: bytes | None = None) -> Checked:
    """Check one theorem, and hand back what it was decided from.

    ``kept``, the observations of an earlier check, stand in for draws: the decision is then made again from them.

    **Raises:** UsageError where settings and theorem do not fit; StatementError, DesignError and ObservationError where
    the theorem's file is at fault; StoreError if a night cannot be kept.
    """
    return theorem_check.observe(theorem_id, settings, _log(theorem_id, settings), kept)


def observe_value(theorem_id: str, settings: Settings, theorem: Theorem) -> Checked:
    """Check a theorem that has no file, in this process; its attempts are counted under its id.

    **Raises:** as `observe`.
    """
    log = StoredAttempts(AttemptFile(Path(settings.state)))
    return theorem_check.observe(theorem_id, settings, log, value=theorem)


def plan(theorem_id: str, settings: Settings) -> TheoremPlan:
    """Plan of a check: its measurements and the power of its designs, without any draw."""
    return theorem_check.plan(theorem_id, settings, _log(theorem_id, settings))


def pilot(theorem_id: str, settings: Settings) -> Pilot:
    """Noise of a few draws that no decision uses, and the plan with that noise."""
    return theorem_check.pilot(theorem_id, settings, _log(theorem_id, settings))


def log_earlier(theorem_id: str, settings: Settings, numbers: Mapping[str, int]) -> None:
    """Log, in an empty state, the attempts before these, so that a check there is the same attempt at every claim.

    A replay on another machine knows the number of each attempt from the report and nothing of the attempts before it.
    """
    log, versions = _log(theorem_id, settings).file, theorem_check.versions(theorem_id, settings)
    for name, number in numbers.items():
        if name in versions:
            fill(log, versions[name], settings.seed, number, now())


def _log(theorem_id: str, settings: Settings) -> StoredAttempts:
    source = drawn_from(Catalogue.of(settings.roots).path(theorem_id), settings.model)
    return StoredAttempts(AttemptFile(Path(settings.state), source))
