"""One theorem checked in a run: as a worker does it, and in this process alone with its attempts counted.

The functions here are named by their importable path (`theorax.runs.checking:check`), so that a worker process, a test
and a replay all start a check in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from theorax.language import Theorem
from theorax.runs.attempt_log import AttemptFile, fill
from theorax.runs.counting import AttemptCounter
from theorax.runs.sources import drawn_from
from theorax.runs.store import now
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers import theorem_check
from theorax.verifiers.attempts import GivenAttempts, UncountedAttempts
from theorax.verifiers.outcome import Checked, TheoremOutcome
from theorax.verifiers.planned_checks import Pilot, TheoremPlan
from theorax.verifiers.reads import recorded_reads
from theorax.verifiers.settings import Settings


def stage(
    theorem_id: str, settings: Settings, log: GivenAttempts | None = None, theorem: Theorem | None = None
) -> Checked | UncountedAttempts:
    """One stage of a check, as a worker does it: without a log the attempts to be counted, with it the check.

    Where no claim is tried on data there is nothing to count, and the first stage is the check. ``theorem``: a value
    without a file.

    Everything that a check of a user's own code reads is recorded.

    **Raises:** as `observe`.
    """
    is_own = theorem is None and (settings.model is not None or Catalogue.of(settings.roots).is_a_user_s(theorem_id))
    if not is_own:
        return _stage(theorem_id, settings, log, theorem)
    with recorded_reads(settings.state) as recorder:
        found = _stage(theorem_id, settings, log, theorem)
    return replace(found, reads=recorder.found) if isinstance(found, Checked) else found


def _stage(
    theorem_id: str, settings: Settings, log: GivenAttempts | None, theorem: Theorem | None
) -> Checked | UncountedAttempts:
    if log is None and (tried := tuple(theorem_check.versions(theorem_id, settings, theorem).values())):
        return UncountedAttempts(tried)
    return theorem_check.observe_theorem(theorem_id, settings, log or GivenAttempts(()), value=theorem)


def check(theorem_id: str, settings: Settings) -> TheoremOutcome:
    """Check one theorem.

    **Raises:** as `observe`.
    """
    return observe(theorem_id, settings).outcome


def observe(theorem_id: str, settings: Settings, kept: bytes | None = None) -> Checked:
    """Check one theorem in this process, and hand back what it was decided from.

    ``kept``, the observations of an earlier check, stand in for draws: the decision is then made again from them.

    **Raises:** UsageError where settings and theorem do not fit; StatementError, DesignError and ObservationError where
    the theorem's file is at fault; StoreError if a given number of the attempt cannot be logged.
    """
    counter = AttemptCounter(_log(theorem_id, settings), settings)
    counted = counter.counted(tuple(theorem_check.versions(theorem_id, settings).values()))
    log = GivenAttempts(counted.attempts or ())
    try:
        found = theorem_check.observe_theorem(theorem_id, counted, log, kept)
    except BaseException:
        counter.closed(log.spent, None)
        raise
    return replace(found, outcome=counter.closed(log.spent, found.outcome) or found.outcome)


def plan(theorem_id: str, settings: Settings) -> TheoremPlan:
    """Plan of a check: its measurements and the power of its designs, without any draw."""
    return theorem_check.plan_theorem(theorem_id, settings, _log(theorem_id, settings))


def pilot(theorem_id: str, settings: Settings) -> Pilot:
    """Noise of a few draws that no decision uses, and the plan with that noise."""
    return theorem_check.pilot_theorem(theorem_id, settings, _log(theorem_id, settings))


def log_earlier(theorem_id: str, settings: Settings, numbers: Mapping[str, int]) -> None:
    """Log, in an empty state, the attempts before these, so that a check there is the same attempt at every claim.

    A replay on another machine knows the number of each attempt from the report and nothing of the attempts before it.
    """
    log, versions = _log(theorem_id, settings), theorem_check.versions(theorem_id, settings)
    for name, number in numbers.items():
        if name in versions:
            fill(log, versions[name], number, now())


def _log(theorem_id: str, settings: Settings) -> AttemptFile:
    source = drawn_from(Catalogue.of(settings.roots).path(theorem_id), settings.model)
    return AttemptFile(Path(settings.state), source)
