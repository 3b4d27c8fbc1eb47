"""Rates: the exponent of a power or the constant of an exponential."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from theorax.decide.case_results import PlannedCase
from theorax.decide.rate_estimators import Average
from theorax.decide.rates import RatePlan
from theorax.decide.status import Levels
from theorax.language import Rate
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.averages import AverageJudge
from theorax.verifiers.kinds.lowering import (
    CellCase,
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
