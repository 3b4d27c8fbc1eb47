"""Limits of means: a sweep over the sizes, the class of corrections in units of the claimed value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from theorax.decide.case_results import PlannedCase
from theorax.decide.limits import LimitPlan
from theorax.decide.status import Levels
from theorax.language import Limit
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.averages import AverageJudge
from theorax.verifiers.kinds.lowering import CellCase, margin_of, moments_in_numbers, seeds_of, spreads, variates_of


@final
@dataclass(frozen=True)
class LimitJudge(AverageJudge[Limit]):
    """Limits: the declared class of finite-size corrections bounds what the largest size still differs by."""

    kind = Limit

    def prepare(self, claim: Limit, cell: Cell, levels: Levels, original: Limit) -> CellCase:
        own, line = cell.number(original.to), cell.line
        unit = abs(own) or 1.0
        plan = LimitPlan(
            sizes=tuple(map(float, line.sizes)),
            to=cell.number(claim.to),
            margin=margin_of(claim, original, own),
            draws=line.draws,
            sd=spreads(original, cell, unit),
            seeds=seeds_of(line),
            corrections=original.approach,
            scale=unit,
            moments=moments_in_numbers(original.moments, cell),
            levels=levels,
            reading=claim.reading,
            letter=str(claim.as_),
            variates=variates_of(original, cell),
        )
        return PlannedCase.of(cell, plan)
