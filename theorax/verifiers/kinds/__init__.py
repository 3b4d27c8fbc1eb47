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
from theorax.verifiers.kinds.averages_lowered import ExpectationJudge, LimitJudge
from theorax.verifiers.kinds.identities_lowered import IdentityJudge
from theorax.verifiers.kinds.impossibilities_lowered import ImpossibilityJudge
from theorax.verifiers.kinds.inequalities_lowered import InequalityJudge
from theorax.verifiers.kinds.laws_lowered import LawJudge
from theorax.verifiers.kinds.lowering import Judge, Judged, Prepared
from theorax.verifiers.kinds.optima_lowered import OptimumJudge
from theorax.verifiers.kinds.probabilities_lowered import ProbabilityJudge
from theorax.verifiers.kinds.rates_lowered import RateJudge

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
