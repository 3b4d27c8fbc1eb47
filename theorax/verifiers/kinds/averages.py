"""Averages over the draws: what limits, expectations and rates have in common once they are planned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from sympy import Expr

from theorax.decide.kill_bounds import FEWEST
from theorax.decide.limits import LimitPlan
from theorax.decide.means import MeanPlan, QuantilePlan
from theorax.decide.rates import RatePlan
from theorax.decide.samples import Columns
from theorax.language import Expectation, Limit, Rate
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.kinds.lowering import (
    CellCase,
    CellResult,
    Judge,
    RoundingSeen,
    Scatter,
    columns,
    known_means,
)

Averaged = TypeVar("Averaged", bound=Limit | Expectation | Rate)
AveragePlan: TypeAlias = LimitPlan | MeanPlan | QuantilePlan | RatePlan


@dataclass(frozen=True)
class AverageJudge(Judge[Averaged]):
    """Decides claims about an average of ``of`` over the draws; abstract."""

    fewest_of_one_run = FEWEST

    def judge(self, claim: Averaged, case: CellCase, observed: Observed) -> CellResult:
        return case.decided(_plan(case).tested(numbers_of(claim, case, observed)))

    def stands(self, claim: Averaged, case: CellResult, observed: Observed, seen: RoundingSeen) -> bool:
        cell = case.cell
        own = numbers_of(claim, case, observed)
        more = seen.bounds(cell.line.sizes, own.values, shares=claim.predicts_an_exponent)
        wider = tuple(bound + part for bound, part in zip(own.bounds, more, strict=True))
        return _plan(case).tested(replace(own, errors=wider)).decision.status is case.decision.status

    def averaged(self, claim: Averaged) -> Expr:
        return claim.of

    def scatter(self, claim: Averaged, case: CellCase, observed: Observed) -> Scatter:
        plan = _plan(case)
        return plan.scatter(numbers_of(claim, case, observed)), plan.planned_spreads


def numbers_of(claim: Limit | Expectation | Rate, case: CellCase, observed: Observed) -> Columns:
    """The averaged numbers, and the variates that are taken from them."""
    return columns(claim.of, case.cell, observed, known_means(claim, case.cell))


def _plan(case: CellCase) -> AveragePlan:
    assert isinstance(case.plan, AveragePlan)
    return case.plan
