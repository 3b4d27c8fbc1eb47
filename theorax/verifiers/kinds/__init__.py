"""One file per kind of claim: from a claim and its observations to a decision."""

from __future__ import annotations

from theorax.theorems.language import (
    Claim,
    Expectation,
    Identity,
    Impossibility,
    Inequality,
    Law,
    Limit,
    Optimum,
    Probability,
    Rate,
)
from theorax.verifiers.kinds.averages import ExpectationJudge, LimitJudge
from theorax.verifiers.kinds.base import Judge, Judged, Prepared
from theorax.verifiers.kinds.identities import IdentityJudge
from theorax.verifiers.kinds.impossibilities import ImpossibilityJudge
from theorax.verifiers.kinds.inequalities import InequalityJudge
from theorax.verifiers.kinds.laws import LawJudge
from theorax.verifiers.kinds.optima import OptimumJudge
from theorax.verifiers.kinds.probabilities import ProbabilityJudge
from theorax.verifiers.kinds.rates import RateJudge

JUDGES: dict[type[Claim], Judge] = {
    Identity: IdentityJudge(),
    Inequality: InequalityJudge(),
    Probability: ProbabilityJudge(),
    Expectation: ExpectationJudge(),
    Limit: LimitJudge(),
    Rate: RateJudge(),
    Law: LawJudge(),
    Optimum: OptimumJudge(),
    Impossibility: ImpossibilityJudge(),
}

__all__ = ["JUDGES", "Judge", "Judged", "Prepared"]
