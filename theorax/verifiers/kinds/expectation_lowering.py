"""Exact means and quantiles: every size is a case of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

from theorax.decide.case_results import PlannedCase
from theorax.decide.means import MeanPlan
from theorax.decide.status import Levels
from theorax.language import Expectation
from theorax.verifiers.cases.sweep_lines import Cell, SweepLine
from theorax.verifiers.kinds.averages import AverageJudge
from theorax.verifiers.kinds.lowering import CellCase, margin_of, moments_in_numbers, seeds_of, spreads, variates_of


@final
@dataclass(frozen=True)
class ExpectationJudge(AverageJudge[Expectation]):
    """Exact means and quantiles: every size is a case of its own, and no size is extrapolated from."""

    kind = Expectation

    def cells(self, claim: Expectation, line: SweepLine) -> Iterator[Cell]:
        for size in line.sizes:
            yield from super().cells(claim, replace(line, sizes=(size,)))

    def prepare(self, claim: Expectation, cell: Cell, levels: Levels, original: Expectation) -> CellCase:
        (size,) = cell.line.sizes
        own = cell.number(original.equals, size)
        unit = abs(own) or 1.0
        (sd,) = spreads(original, cell, unit)
        mean = MeanPlan(
            to=cell.number(claim.equals, size),
            margin=margin_of(claim, original, own),
            draws=cell.line.draws,
            sd=sd,
            seeds=seeds_of(cell.line),
            size=float(size),
            moments=moments_in_numbers(original.moments, cell),
            levels=levels,
            reading=claim.reading,
            variates=variates_of(original, cell),
        )
        plan = mean if claim.quantile is None else mean.of_quantile(cell.number(claim.quantile, size))
        return PlannedCase.of(cell, plan)
