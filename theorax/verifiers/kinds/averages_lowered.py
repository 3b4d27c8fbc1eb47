"""Limits, exact means and quantiles: the bias-aware decision on weighted means of draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from theorax.decide import quantiles
from theorax.decide.bias_aware import Bias, Weights
from theorax.decide.designs import Policy, Target
from theorax.decide.equivalence import decide, is_robust
from theorax.decide.interval import Interval
from theorax.decide.mean_intervals import LIGHT, Declared, mean_of
from theorax.decide.planning import alarmed
from theorax.decide.status import Decision, Levels, Refusal
from theorax.decide.verdict import Point
from theorax.language import (
    Absolute,
    Bounded,
    BoundedVariance,
    Claim,
    Corrections,
    Expectation,
    Limit,
    TwoValues,
)
from theorax.verifiers.cases.lines import Cell, Line, Observed, evaluate, rounding, roundings
from theorax.verifiers.kinds.lowering import Judge, Judged, Prepared, class_at, estimated, planned, point

EXACT = Corrections(size=0.0, rest=0.0, reason="the mean is exact at every size")


@final
@dataclass(frozen=True)
class LimitJudge(Judge):
    """Limits: the declared class of finite-size corrections bounds what the largest size still differs by."""

    def prepare(self, claim: Claim, cell: Cell, levels: Levels, original: Claim) -> Prepared:
        assert isinstance(claim, Limit) and isinstance(original, Limit) and original.margin is not None
        own = cell.number(original.to)
        unit = abs(own) or 1.0
        corrections = class_at(original.approach, unit, cell.line.sizes[0])
        weights = planned(
            original, cell, levels, Target.LIMIT, corrections, unit, declared(original, cell, cell.line.sizes)
        )
        margin = _margin(claim, original, own)
        return Prepared(cell, cell.number(claim.to), margin, unit, weights)

    def judge(self, claim: Claim, prepared: Prepared, observed: Observed) -> Judged:
        assert isinstance(claim, Limit) and prepared.weights is not None
        cell, count = prepared.cell, len(prepared.cell.line.sizes)
        samples = [evaluate(claim.of, cell, observed, i) for i in range(count)]
        errors = [rounding(claim.of, cell, observed, i) for i in range(count)]
        points = tuple(point(size, sample) for size, sample in zip(cell.line.sizes, samples, strict=True))
        plan, known = prepared.weights.plan, _known(claim, prepared, cell.line.sizes)

        def estimate(weights: Weights) -> Interval:
            return _mean(known, weights, samples, errors)

        def along(direction: np.ndarray, bias: float) -> Interval:
            return estimate(Weights(plan, tuple(map(float, direction)), Bias(given=bias)))

        try:
            decision = decide(estimate(prepared.weights), prepared.claimed, prepared.margin, prepared.side, plan.levels)
            decision = replace(decision, robust=is_robust(decision, plan, estimate))
            decision, detail = alarmed(decision, plan, along)
        except Refusal as refusal:
            return _refused(prepared, plan.levels, refusal, points)
        unseen = (
            f"a limit that differs from the claimed one by less than {prepared.weights.mde(0.9):.2g}",
            f"corrections outside the declared class ({plan.corrections})",
        )
        return Judged(prepared, decision, points, unseen, detail=detail)


@final
@dataclass(frozen=True)
class ExpectationJudge(Judge):
    """Exact means and quantiles: every size is a case of its own, and no size is extrapolated from."""

    def cells(self, claim: Claim, line: Line) -> Iterator[Cell]:
        for size in line.sizes:
            yield from super().cells(claim, replace(line, sizes=(size,)))

    def prepare(self, claim: Claim, cell: Cell, levels: Levels, original: Claim) -> Prepared:
        assert isinstance(claim, Expectation) and isinstance(original, Expectation)
        (size,) = cell.line.sizes
        own = cell.number(original.equals, size)
        unit = abs(own) or 1.0
        weights = planned(original, cell, levels, Target.LIMIT, EXACT, unit, declared(original, cell, (size,)))
        if original.quantile is not None:
            order = cell.number(original.quantile, size)
            sd = tuple(quantiles.planned_sd(order, one) for one in weights.plan.noise)
            weights = replace(weights, plan=replace(weights.plan, sd=sd))  # of one size: the weight stays one
        return Prepared(cell, cell.number(claim.equals, size), _margin(claim, original, own), unit, weights)

    def judge(self, claim: Claim, prepared: Prepared, observed: Observed) -> Judged:
        assert isinstance(claim, Expectation) and prepared.weights is not None
        (size,) = prepared.cell.line.sizes
        at = observed.line.sizes.index(size)
        sample = evaluate(claim.of, Cell(observed.line, prepared.cell.chosen), observed, at)
        error = rounding(claim.of, Cell(observed.line, prepared.cell.chosen), observed, at)
        points, levels = (point(size, sample),), prepared.weights.plan.levels
        what = "mean" if claim.quantile is None else "quantile"
        try:
            if claim.quantile is None:
                interval = _mean(_known(claim, prepared, (size,)), prepared.weights, [sample], [error])
            else:
                found = quantiles.quantile(sample, prepared.cell.number(claim.quantile, size))
                # Every draw moved by at most its error moves every order statistic by at most the largest of them.
                largest = float(_worst(claim, prepared, observed, at))
                interval = replace(found, rounding=found.rounding + largest)
        except Refusal as refusal:
            return _refused(prepared, levels, refusal, points)
        decision = decide(interval, prepared.claimed, prepared.margin, prepared.side, levels)
        unseen = (f"a {what} that differs from the claimed one by less than {prepared.weights.mde(0.9):.2g}",)
        return Judged(prepared, decision, points, unseen)


def declared(claim: Limit | Expectation, cell: Cell, sizes: Sequence[int]) -> Declared:
    """The claim's declaration in numbers, at each of these sizes."""
    moments = claim.moments
    if isinstance(moments, Bounded | TwoValues):
        low, high = (tuple(cell.number(end, size) for size in sizes) for end in (moments.low, moments.high))
        return Declared("range" if isinstance(moments, Bounded) else "two values", low, high)
    if isinstance(moments, BoundedVariance):
        return Declared("variance", variance=tuple(cell.number(moments.variance, size) for size in sizes))
    return LIGHT


def _known(claim: Limit | Expectation, prepared: Prepared, sizes: Sequence[int]) -> Declared:
    found = declared(claim, prepared.cell, sizes)
    return replace(found, fewest=2) if prepared.repetition else found


def _mean(known: Declared, weights: Weights, samples: Sequence[np.ndarray], errors: Sequence[float]) -> Interval:
    if weights.plan.policy is Policy.DETERMINISTIC:
        return estimated(weights, samples, errors)
    return mean_of(known, weights, samples, np.asarray(errors))


def _worst(claim: Expectation, prepared: Prepared, observed: Observed, at: int) -> float:
    return float(roundings(claim.of, Cell(observed.line, prepared.cell.chosen), observed, at).max())


def _margin(claim: Limit | Expectation, original: Limit | Expectation, own: float) -> float:
    """The margin around the claim's own value: a wrong value is judged at the distance that the right one declared."""
    margin = claim.margin
    assert margin is not None and original.margin is not None
    return margin.around(own) if own or isinstance(margin, Absolute) else original.margin.around(own)


def _refused(prepared: Prepared, levels: Levels, refusal: Refusal, points: tuple[Point, ...]) -> Judged:
    decision = Decision.undecided(refusal.reason, prepared.claimed, prepared.margin, prepared.side, levels)
    return Judged(prepared, decision, points, detail=str(refusal))
