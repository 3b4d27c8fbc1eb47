"""Exact means and quantiles: every size is a case of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

from theorax.decide import quantiles
from theorax.decide.designs import Target
from theorax.decide.equivalence import decide
from theorax.decide.status import Levels, Refusal
from theorax.language import (
    Corrections,
    Expectation,
)
from theorax.verifiers.cases.evaluation import Observed, evaluate, rounding, roundings
from theorax.verifiers.cases.sweep_lines import Cell, SweepLine
from theorax.verifiers.kinds.declared_means import declared, known_of, margin_of, mean_interval, undecided
from theorax.verifiers.kinds.lowering import Judge, Judged, Prepared, planned, point

EXACT = Corrections(size=0.0, rest=0.0, reason="the mean is exact at every size")


@final
@dataclass(frozen=True)
class ExpectationJudge(Judge[Expectation]):
    """Exact means and quantiles: every size is a case of its own, and no size is extrapolated from."""

    kind = Expectation

    def cells(self, claim: Expectation, line: SweepLine) -> Iterator[Cell]:
        for size in line.sizes:
            yield from super().cells(claim, replace(line, sizes=(size,)))

    def prepare(self, claim: Expectation, cell: Cell, levels: Levels, original: Expectation) -> Prepared:
        (size,) = cell.line.sizes
        own = cell.number(original.equals, size)
        unit = abs(own) or 1.0
        weights = planned(original, cell, levels, Target.LIMIT, EXACT, unit, declared(original, cell, (size,)))
        if original.quantile is not None:
            order = cell.number(original.quantile, size)
            sd = tuple(quantiles.planned_sd(order, one) for one in weights.plan.noise)
            weights = replace(weights, plan=replace(weights.plan, sd=sd))  # of one size: the weight stays one
        return Prepared(cell, cell.number(claim.equals, size), margin_of(claim, original, own), unit, weights)

    def judge(self, claim: Expectation, prepared: Prepared, observed: Observed) -> Judged:
        assert prepared.weights is not None
        (size,) = prepared.cell.line.sizes
        at = observed.line.sizes.index(size)
        sample = evaluate(claim.of, Cell(observed.line, prepared.cell.chosen), observed, at)
        error = rounding(claim.of, Cell(observed.line, prepared.cell.chosen), observed, at)
        points, levels = (point(size, sample),), prepared.weights.plan.levels
        what = "mean" if claim.quantile is None else "quantile"
        try:
            if claim.quantile is None:
                interval = mean_interval(known_of(claim, prepared, (size,)), prepared.weights, [sample], [error])
            else:
                found = quantiles.quantile(sample, prepared.cell.number(claim.quantile, size))
                # Every draw moved by at most its error moves every order statistic by at most the largest of them.
                largest = float(_worst(claim, prepared, observed, at))
                interval = replace(found, rounding=found.rounding + largest)
        except Refusal as refusal:
            return undecided(prepared, levels, refusal, points)
        decision = decide(interval, prepared.claimed, prepared.margin, prepared.side, levels)
        unseen = (f"a {what} that differs from the claimed one by less than {prepared.weights.mde(0.9):.2g}",)
        return Judged(prepared, decision, points, unseen)


def _worst(claim: Expectation, prepared: Prepared, observed: Observed, at: int) -> float:
    return float(roundings(claim.of, Cell(observed.line, prepared.cell.chosen), observed, at).max())
