"""Sample means of variates, held against the means that the author states of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from theorax.decide.control_variates import MeanTest, found_wrong, line_of
from theorax.decide.findings import Found
from theorax.decide.guard_findings import NOTHING_LOOKED_AT, Looked
from theorax.decide.limits import LimitPlan
from theorax.decide.means import MeanPlan
from theorax.decide.rates import RatePlan
from theorax.language.notation import inline
from theorax.verifiers import claim_verdicts
from theorax.verifiers.guards.guard import DecidedClaim
from theorax.verifiers.kinds.averages import numbers_of

if TYPE_CHECKING:
    from theorax.language import Expectation, Limit, Rate

__all__ = ["sample_means"]


def sample_means(claim: DecidedClaim) -> Looked:
    """A known mean that the draws of a case reject is an error of the claim; one that cannot be tested withholds support."""
    stated = claim.planned.claim
    if not stated.variates:
        return NOTHING_LOOKED_AT
    found: list[Found] = []
    tests: list[MeanTest] = []
    for case in claim.judged:
        cell = case.cell
        numbers = numbers_of(cast("Limit | Expectation | Rate", stated), case, claim.draws.on(cell.line))
        plan = case.plan
        assert isinstance(plan, LimitPlan | MeanPlan | RatePlan)  # quantiles have no variates
        own = plan.mean_tests(numbers, claim.planned.share)
        found += found_wrong(own, f" for {claim_verdicts.cell_name(cell)}")
        tests += own
    lines = [
        line_of(f"E[{inline(part.of)}]", [test for test in tests if test.known.name == inline(part.of)])
        for part in stated.known_means
    ]
    found.sort(key=lambda part: part.reason is not None)  # a mean that is wrong before one that is not tested
    return Looked(tuple(found[:1]), tuple(lines))
