"""A law of a sample is that of one draw: its scatter over the draws must vanish as the size grows."""

from __future__ import annotations

from theorax.decide.findings import Finding, Found
from theorax.decide.guard_findings import NOTHING_LOOKED_AT, Looked
from theorax.decide.laws import LawPlan
from theorax.decide.self_averaging import Scatter, scatter_of
from theorax.decide.status import Reason
from theorax.decide.verdict import Assumption, Standing
from theorax.language import Law
from theorax.text.numbers import number
from theorax.verifiers import claim_verdicts
from theorax.verifiers.guards.guard import DecidedClaim
from theorax.verifiers.kinds.law_lowering import observed_features

__all__ = ["laws_of_samples"]


def laws_of_samples(claim: DecidedClaim) -> Looked:
    """Support of the law of a sample is withheld unless the scatter of the empirical law is shown to vanish."""
    stated = claim.planned.claim
    if not isinstance(stated, Law) or not stated.is_of_one_draw:
        return NOTHING_LOOKED_AT
    seen: list[tuple[Scatter, float]] = []
    for case in claim.judged:
        plan, cell = case.plan, case.cell
        assert isinstance(plan, LawPlan)
        observed = claim.draws.on(cell.line)
        tables = [observed_features(stated, cell, observed, at, plan.frequencies) for at in range(len(cell.line.sizes))]
        scatter = scatter_of(tables, plan.sizes, plan.core.policy, plan.levels.support)
        seen.append((scatter, plan.margin))
        if not scatter.vanishes_within(plan.margin):
            return Looked(
                (
                    Found(
                        Finding.WITHHELD,
                        _sentence(claim_verdicts.cell_name(cell), scatter, plan),
                        Reason.SELF_AVERAGING,
                    ),
                )
            )
    most = max(scatter.at_most / margin for scatter, margin in seen)
    text = f"the law of one draw scatters about its mean by at most {number(most, 2)} of the margin as the size grows"
    return Looked(ledger=(Assumption("self-averaging", text, Standing.TESTED),))


def _sentence(where: str, scatter: Scatter, plan: LawPlan) -> str:
    first, last = (number(part, 2) for part in (scatter.at_sizes[0], scatter.at_sizes[-1]))
    return (
        f"The draws show the mean of the empirical laws, not the law of one draw, for {where}: claim it with mean_law=True, "
        f"or draw more values at larger sizes. The law of one draw scatters by {first} in D at "
        f"{plan.letter} = {plan.sizes[0]:g} and by {last} at {plan.sizes[-1]:g}, and {number(scatter.at_most, 2)} may stay; "
        f"the margin is {number(plan.margin, 2)}."
    )
