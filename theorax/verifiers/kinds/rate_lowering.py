"""Rates: the exponent of a power or the constant of an exponential, of draws or of the distance of their law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from sympy import Expr

from theorax.decide.case_results import PlannedCase
from theorax.decide.law_distance import law_point
from theorax.decide.law_rates import DistancesOfLaws
from theorax.decide.rate_estimators import Average
from theorax.decide.rates import RatePlan
from theorax.decide.status import Levels
from theorax.language import Rate
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.averages import AverageJudge
from theorax.verifiers.kinds.law_lowering import law_features, law_frequencies, law_parts, law_stands, observed_features
from theorax.verifiers.kinds.lowering import (
    CellCase,
    CellResult,
    RoundingSeen,
    Scatter,
    seeds_of,
    spreads,
    variates_of,
)


@final
@dataclass(frozen=True)
class RateJudge(AverageJudge[Rate]):
    """Rates; the class of corrections is declared for the logarithm, where a relative correction is an absolute one."""

    kind = Rate

    def prepare(self, claim: Rate, cell: Cell, levels: Levels, original: Rate) -> CellCase:
        assert claim.margin is not None
        line, exponent = cell.line, cell.number(claim.exponent)
        rival = None
        if claim.rules_out is not None:
            low, high = sorted(map(cell.number, claim.rules_out))
            rival = (low, high)
        plan = RatePlan(
            sizes=tuple(map(float, line.sizes)),
            exponent=exponent,
            margin=claim.margin.around(exponent),
            draws=line.draws,
            sd=spreads(original, cell),
            seeds=seeds_of(line),
            side=claim.side,
            form="exponential" if original.is_exponential else "power",
            corrections=original.approach,
            floor=cell.number(original.floor),
            average=Average(original.average),
            rival=rival,
            rival_corrections=claim.rival,
            levels=levels,
            reading=claim.reading,
            letter=str(claim.as_),
            variates=variates_of(original, cell),
        )
        return PlannedCase.of(cell, plan, plan.core.side)

    def judge(self, claim: Rate, case: CellCase, observed: Observed) -> CellResult:
        if claim.to is None:
            return super().judge(claim, case, observed)
        assert isinstance(case.plan, RatePlan)
        return case.decided(case.plan.tested(_distances(claim, case, observed)))

    def may_end_early(self, claim: Rate) -> bool:
        return claim.given is None  # whether the law holds given the variance is asked of the same draws

    def compared(self, claim: Rate) -> Sequence[Expr]:
        return super().compared(claim) if claim.to is None else law_parts(claim)

    def stands(self, claim: Rate, case: CellResult, observed: Observed, seen: RoundingSeen) -> bool:
        return super().stands(claim, case, observed, seen) if claim.to is None else law_stands(claim, case, seen)

    def scatter(self, claim: Rate, case: CellCase, observed: Observed) -> Scatter:
        # A distance of laws: what one draw scatters by has no unit in it.
        return super().scatter(claim, case, observed) if claim.to is None else ((), ())


def _distances(claim: Rate, case: CellCase, observed: Observed) -> DistancesOfLaws:
    """The features of the draws at every size, beside those of the law that is approached."""
    assert claim.to is not None
    cell, frequencies = case.cell, law_frequencies(claim, case.cell)
    target = law_features(claim.to, cell, frequencies)
    tables = tuple(observed_features(claim, cell, observed, at, frequencies) for at in range(len(cell.line.sizes)))
    points = tuple(law_point(size, table, target) for size, table in zip(cell.line.sizes, tables, strict=True))
    return DistancesOfLaws(tables, target, points)
