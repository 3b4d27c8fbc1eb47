"""One error budget for everything a run decides: Holm's adjustment over all its statistical claims.

Family R holds every p-value of refutation, family S every p-value of support (a suite that reports many claims would
otherwise call some of them wrongly by chance alone). Rigorous results carry no such error and stay outside. Holm's
method is valid under any dependence: claims may share seeds, draws and models.

=========================  =======================  ==============
a claim that alone is      and in its family is     is reported as
=========================  =======================  ==============
SUPPORTED                  rejected by Holm         SUPPORTED
SUPPORTED                  not rejected             INCONCLUSIVE
REFUTED                    rejected by Holm         REFUTED
REFUTED                    not rejected             INCONCLUSIVE
anything else              whatever                 unchanged
=========================  =======================  ==============

A theorem whose claims change is INCONCLUSIVE where its own status rested on one of them, and what rests on that theorem
is then BLOCKED in the report, though its own check is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from theorax.verifiers.graph import Graph
from theorax.verifiers.outcome import TheoremOutcome, Verdict
from theorax.verifiers.suite import holm

REFUTATIONS = 0.01
SUPPORTS = 0.05
TESTED = ("REFUTED", "SUPPORTED", "INCONCLUSIVE")


@dataclass(frozen=True)
class Suite:
    """What the adjustment was over and what it changed."""

    refutations: int  # members of family R
    supports: int  # members of family S
    changed: tuple[str, ...]  # theorem.claim

    @property
    def sentence(self) -> str:
        """The adjustment in words."""
        count = len(self.changed)
        changed = "no status changed" if not count else f"{count} status{'es' * (count > 1)} changed"
        return (
            f"Holm over the claims of this run: {self.refutations} refutations at {REFUTATIONS}, "
            f"{self.supports} supports at {SUPPORTS}; {changed}."
        )


def adjust(outcomes: Mapping[str, TheoremOutcome], graph: Graph) -> tuple[dict[str, TheoremOutcome], Suite]:
    """The outcomes with their statuses as the whole run supports them, and what was adjusted."""
    refuted = _family(outcomes, "p_refute", REFUTATIONS)
    supported = _family(outcomes, "p_support", SUPPORTS)
    changed: list[str] = []
    adjusted: dict[str, TheoremOutcome] = {}
    for id, outcome in outcomes.items():
        claims = []
        for claim in outcome.claims:
            family, size = (refuted, len(refuted)) if claim.status == "REFUTED" else (supported, len(supported))
            falls = claim.status in ("REFUTED", "SUPPORTED") and family.get((id, claim.id)) is False
            claims.append(_fallen(claim, size) if falls else claim)
            if falls:
                changed.append(f"{id}.{claim.id}")
        adjusted[id] = _combined(outcome, tuple(claims))
    return _propagated(adjusted, graph), Suite(len(refuted), len(supported), tuple(changed))


def _family(outcomes: Mapping[str, TheoremOutcome], field: str, level: float) -> dict[tuple[str, str], bool]:
    """The members of a family, each with whether Holm rejects it."""
    members: dict[str, float] = {}
    for id, outcome in outcomes.items():
        for claim in outcome.claims:
            p = claim.p_refute if field == "p_refute" else claim.p_support
            if claim.status in TESTED and not claim.rigorous and p is not None:
                members[f"{id}.{claim.id}"] = p
    names = {name: (name.partition(".")[0], name.partition(".")[2]) for name in members}
    return {names[name]: adjusted <= level for name, adjusted in holm(members).items()}


def _fallen(claim: Verdict, size: int) -> Verdict:
    p, level = (claim.p_refute, REFUTATIONS) if claim.status == "REFUTED" else (claim.p_support, SUPPORTS)
    return replace(
        claim,
        status="INCONCLUSIVE",
        reason="underpowered",
        sentence=f"{claim.sentence} Alone it is {claim.status} (p = {p:.2g}); among the {size} claims of this run "
        f"that is not small enough for a family-wise error of {level} (Holm).",
    )


def _combined(outcome: TheoremOutcome, claims: tuple[Verdict, ...]) -> TheoremOutcome:
    # Errata (claims that print what the source says, corrected by another) do not carry the theorem's status.
    fell = [
        new.id
        for old, new in zip(outcome.claims, claims, strict=True)
        if old.status != new.status and old.corrected is None
    ]
    if not fell:
        return replace(outcome, claims=claims)
    still_refuted = any(claim.status == "REFUTED" and claim.corrected is None for claim in claims)
    rests = outcome.status == "SUPPORTED" or (outcome.status == "REFUTED" and not still_refuted)
    if not rests:
        return replace(outcome, claims=claims)
    reason = f"{', '.join(fell)}: not significant within this run (Holm); alone the theorem is {outcome.status}."
    return replace(outcome, claims=claims, status="INCONCLUSIVE", reason=reason)


def _propagated(outcomes: dict[str, TheoremOutcome], graph: Graph) -> dict[str, TheoremOutcome]:
    statuses = {id: outcome.status for id, outcome in outcomes.items()}
    found = {}
    for id, outcome in outcomes.items():
        blockers = graph.blockers(id, statuses) if outcome.status not in ("BLOCKED", "ERROR", "REFUTED") else ()
        if blockers:
            reason = f"It rests on {', '.join(blockers)}, not established in this run; alone it is {outcome.status}."
            found[id] = replace(outcome, status="BLOCKED", reason=reason, blocked_by=blockers)
        else:
            found[id] = outcome
    return found
