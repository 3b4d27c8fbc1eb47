"""One file per kind of claim: from a claim and its observations to a decision."""

from __future__ import annotations

from theorax.language import (
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
from theorax.verifiers.kinds.expectation_lowering import ExpectationJudge
from theorax.verifiers.kinds.identity_lowering import IdentityJudge
from theorax.verifiers.kinds.impossibility_lowering import ImpossibilityJudge
from theorax.verifiers.kinds.inequality_lowering import InequalityJudge
from theorax.verifiers.kinds.law_lowering import LawJudge
from theorax.verifiers.kinds.limit_lowering import LimitJudge
from theorax.verifiers.kinds.lowering import Judge, Judged, Prepared
from theorax.verifiers.kinds.optimum_lowering import OptimumJudge
from theorax.verifiers.kinds.probability_lowering import ProbabilityJudge
from theorax.verifiers.kinds.rate_lowering import RateJudge

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
