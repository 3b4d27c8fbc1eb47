"""One error budget for everything a run decides: the adjustment of its claims, and what it means for its theorems.

Family R holds every p-value of refutation, family S every p-value of support (a suite that reports many claims would
otherwise call some of them wrongly by chance alone); Holm's method holds each family. A
p-value enters with the charge of its attempt (:mod:`theorax.decide.spending`).

=========================  =======================  ==============
a claim that alone is      and in its family is     is reported as
=========================  =======================  ==============
SUPPORTED                  rejected                 SUPPORTED
SUPPORTED                  not rejected             INCONCLUSIVE
REFUTED                    rejected                 REFUTED
REFUTED                    not rejected             INCONCLUSIVE
anything else              whatever                 unchanged
=========================  =======================  ==============

A theorem whose claims change is INCONCLUSIVE where its own status rested on one of them, and what rests on that theorem
is then BLOCKED in the report, though its own check is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from theorax.decide import error_budget
from theorax.decide.error_budget import Suite
from theorax.decide.findings import Finding, settle
from theorax.decide.spending import charged
from theorax.decide.status import Status
from theorax.decide.verdict import Verdict
from theorax.runs.dependencies import Graph
from theorax.verifiers.outcome import TheoremOutcome, overall


def adjust_outcomes(outcomes: Mapping[str, TheoremOutcome], graph: Graph) -> tuple[dict[str, TheoremOutcome], Suite]:
    """The outcomes with their statuses as the whole run supports them, and what was adjusted."""
    own = {f"{id}.{claim.id}": claim for id, outcome in outcomes.items() for claim in outcome.claims}
    suite = error_budget.apply_budget({name: _charged(claim) for name, claim in own.items()})
    # The p-values shown are those of the attempt; what fell, fell by the charged ones.
    shown = {
        name: suite.after(name, _charged(claim)) if name in suite.changed else claim for name, claim in own.items()
    }
    adjusted = {
        id: _combined(outcome, tuple(shown[f"{id}.{claim.id}"] for claim in outcome.claims))
        for id, outcome in outcomes.items()
    }
    return _propagated(adjusted, graph), suite


def unadjusted(outcomes: Mapping[str, TheoremOutcome], graph: Graph) -> tuple[dict[str, TheoremOutcome], Suite]:
    """The outcomes of a shard as they are alone: the others of its run are not known yet."""
    return dict(outcomes), error_budget.apply_budget({})


def _charged(claim: Verdict) -> Verdict:
    """The verdict with p-values that count its attempt: fresh seeds on one claim share one budget."""
    if claim.p_refute is None or claim.p_support is None:
        return claim
    p_refute = charged(claim.p_refute, claim.attempt)
    return replace(claim, p_refute=p_refute, p_support=charged(claim.p_support, claim.attempt))


def _combined(outcome: TheoremOutcome, claims: tuple[Verdict, ...]) -> TheoremOutcome:
    # Errata (claims that print what the source says, corrected by another) do not carry the theorem's status.
    fell = [
        new.id
        for old, new in zip(outcome.claims, claims, strict=True)
        if old.status != new.status and old.corrected is None
    ]
    if not fell:
        return replace(outcome, claims=claims)
    status, reason = overall(claims)
    if status is outcome.status:
        return replace(outcome, claims=claims)
    if status is Status.INCONCLUSIVE:
        reason = f"{', '.join(fell)}: not significant within this run (Holm); alone the theorem is {outcome.status}."
    return replace(outcome, claims=claims, status=status, reason=reason)


def _propagated(outcomes: dict[str, TheoremOutcome], graph: Graph) -> dict[str, TheoremOutcome]:
    statuses = {id: outcome.status for id, outcome in outcomes.items()}
    found = {}
    for id, outcome in outcomes.items():
        blockers = (
            graph.blockers(id, statuses) if outcome.status not in (Status.BLOCKED, Status.ERROR, Status.REFUTED) else ()
        )
        if blockers:
            reason = f"It rests on {', '.join(blockers)}, not established in this run; alone it is {outcome.status}."
            blocked = settle([Finding.ANCESTOR_FAILED])
            found[id] = replace(outcome, status=blocked, reason=reason, blocked_by=blockers)
        else:
            found[id] = outcome
    return found
