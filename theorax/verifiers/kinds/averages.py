"""Averages over the draws: what limits, expectations and rates have in common once they are planned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from sympy import Expr

from theorax.decide.limits import LimitPlan
from theorax.decide.means import MeanPlan, QuantilePlan
from theorax.decide.rates import RatePlan
from theorax.decide.samples import Columns
from theorax.language import Expectation, Limit, Rate
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.kinds.lowering import (
    Judge,
    Judged,
    Prepared,
    RoundingSeen,
    Scatter,
    columns,
    judged,
    known_means,
)

Averaged = TypeVar("Averaged", bound=Limit | Expectation | Rate)
AveragePlan: TypeAlias = LimitPlan | MeanPlan | QuantilePlan | RatePlan


@dataclass(frozen=True)
class AverageJudge(Judge[Averaged]):
    """Decides claims about an average of ``of`` over the draws; abstract."""

    def judge(self, claim: Averaged, prepared: Prepared, observed: Observed) -> Judged:
        return judged(prepared, _plan(prepared).tested(numbers_of(claim, prepared, observed)))

    def stands(self, claim: Averaged, case: Judged, observed: Observed, seen: RoundingSeen) -> bool:
        cell = case.prepared.cell
        own = numbers_of(claim, case.prepared, observed)
        more = seen.bounds(cell.line.sizes, own.values, shares=claim.predicts_an_exponent)
        wider = tuple(bound + part for bound, part in zip(own.bounds, more, strict=True))
        return _plan(case.prepared).tested(replace(own, errors=wider)).decision.status.holds

    def averaged(self, claim: Averaged) -> Expr:
        return claim.of

    def scatter(self, claim: Averaged, prepared: Prepared, observed: Observed) -> Scatter:
        plan = _plan(prepared)
        return plan.scatter(numbers_of(claim, prepared, observed)), plan.planned_spreads


def numbers_of(claim: Limit | Expectation | Rate, prepared: Prepared, observed: Observed) -> Columns:
    """What is averaged, and the variates that are taken from it."""
    return columns(claim.of, prepared.cell, observed, known_means(claim, prepared.cell))


def _plan(prepared: Prepared) -> AveragePlan:
    assert isinstance(prepared.plan, AveragePlan)
    return prepared.plan
