"""From the cases of a claim to its verdict: the one place where the parts of a verdict are put together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

from theorax.decide.case_results import CaseResult, PlannedCase
from theorax.decide.findings import Found
from theorax.decide.guard_findings import NOTHING_LOOKED_AT, Looked
from theorax.decide.status import Decision, LargerClasses, Status
from theorax.decide.verdict import (
    Assumption,
    Case,
    ErrorRates,
    Grounds,
    LoggedAttempt,
    Seen,
    Statement,
    Verdict,
    again,
    remarks,
    settled_fields,
)
from theorax.decide.wording import finite

__all__ = ["conclude", "deciding"]

C = TypeVar("C", bound=CaseResult[Any])


def conclude(
    stated: Statement,
    cases: Sequence[PlannedCase[Any]],
    findings: Sequence[Found],
    *,
    decision: Decision | None = None,
    level: float | None = None,
    looked: Looked = NOTHING_LOOKED_AT,
    scope: str = "",
    proved_for: str = "",
    measured_for: str = "",
    ledger: Sequence[Assumption] = (),
    draws: int | None = None,
    sizes: Sequence[float] = (),
    attempt: int = 1,
    log: LoggedAttempt | None = None,
    seen: Seen | None = None,
) -> Verdict:
    """The verdict on one claim.

    ``decision``: of all cases together; None where no data decided, and then none of the cases has a result. ``level``:
    what the verdict spends of an error rate; None where nothing is random, or where arithmetic decided. ``looked``: what
    was looked at besides. ``draws``: those of all points, where none are given. ``seen``: what it was looked at.
    """
    results = [case for case in cases if isinstance(case, CaseResult)]
    shown = None if decision is None else deciding(results, decision)
    worst = next((place for place, case in enumerate(results) if case is shown), None)
    tightness = None if shown is None else shown.tightness()
    found = (*findings, *looked.findings)
    rates: dict[str, Any] = {"attempt": attempt, "log": log}
    grounds = Grounds(
        draws=sum(point.draws for case in results for point in case.points) if draws is None else draws,
        sizes=tuple(sizes),
        unseen=() if shown is None else (*shown.unseen, *remarks(tightness)),
        scope=scope,
        proved_for=proved_for,
        measured_for=measured_for,
        ledger=looked.over(ledger),
        tightness=tightness,
        seen=seen,
    )
    spent = ErrorRates(**rates) if decision is None else ErrorRates.of(decision, level, **rates)
    larger = LargerClasses() if decision is None else decision.larger_classes
    parts = {**vars(stated), **vars(spent), **vars(grounds), **vars(larger), **settled_fields(found)}
    return again({**parts, "cases": tuple(map(_reported, cases)), "worst": worst})


def deciding(cases: Sequence[C], decision: Decision) -> C:
    """The case that decided: the clearest refutation, else the weakest support, else the first that is open."""
    alike = [case for case in cases if case.decision.status is decision.status]
    if decision.status is Status.REFUTED:
        return min(alike, key=lambda case: case.decision.p_refute)
    if decision.status is Status.SUPPORTED:
        return min(cases, key=lambda case: case.decision.breakdown_support)
    return alike[0] if alike else cases[0]


def _reported(case: PlannedCase[Any]) -> Case:
    """One case as a report shows it, decided or only planned."""
    planned: dict[str, Any] = {
        "subject": case.cell.name,
        "at": dict(case.cell.label),
        "predicted": case.predicted,
        "bias": case.bias,
        "margin": case.margin,
        "noticeable": case.noticeable,
    }
    if not isinstance(case, CaseResult):
        return Case(
            **planned,
            estimate=None,
            standard_error=None,
            interval=None,
            status=Status.INCONCLUSIVE,
            reason=None,
            p_refute=None,
            p_support=None,
            breakdown=None,
            gain=case.plan.planned_gain,
        )
    decision = case.decision
    ends = sorted((case.sign * decision.lower, case.sign * decision.upper))
    factor = decision.breakdown_refute if decision.status is Status.REFUTED else decision.breakdown_support
    # The word that the claim has by such cases alone.
    certified = case.covered and decision.status is Status.SUPPORTED
    return Case(
        **planned,
        estimate=finite(case.sign * decision.estimate),
        standard_error=finite(decision.se),
        interval=(ends[0], ends[1]) if all(map(math.isfinite, ends)) else None,
        status=Status.CERTIFIED if certified else decision.status,
        reason=decision.reason,
        p_refute=finite(decision.p_refute),
        p_support=finite(decision.p_support),
        breakdown=finite(factor),
        points=case.points,
        detail=case.detail,
        gain=case.gain,
        outside=decision.outside,
        rivals=decision.rivals,
    )
