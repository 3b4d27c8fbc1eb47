"""Limits and exact means: the bias-aware decision on weighted means of draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

from theorax.theorems.language import Absolute, Claim, Corrections, Expectation, Limit
from theorax.verifiers.bias import Target
from theorax.verifiers.decide import decide, is_robust
from theorax.verifiers.decision import Decision, Levels, Reason
from theorax.verifiers.kinds.base import FEWEST_DRAWS, Judge, Judged, Prepared, class_at, estimated, planned, point
from theorax.verifiers.lines import Cell, Line, Observed, evaluate, rounding

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
        weights = planned(original, cell, levels, Target.LIMIT, corrections, unit)
        margin = _margin(claim, original, own)
        return Prepared(cell, cell.number(claim.to), margin, unit, weights)

    def judge(self, claim: Claim, prepared: Prepared, observed: Observed) -> Judged:
        assert isinstance(claim, Limit) and prepared.weights is not None
        cell, count = prepared.cell, len(prepared.cell.line.sizes)
        samples = [evaluate(claim.of, cell, observed, i) for i in range(count)]
        errors = [rounding(claim.of, cell, observed, i) for i in range(count)]
        points = tuple(point(size, sample) for size, sample in zip(cell.line.sizes, samples, strict=True))
        levels = prepared.weights.plan.levels
        if min(map(len, samples)) < FEWEST_DRAWS:
            return Judged(prepared, _too_few(prepared, levels), points, detail=_FEW)
        decision = decide(
            estimated(prepared.weights, samples, errors), prepared.claimed, prepared.margin, prepared.side, levels
        )
        robust = is_robust(decision, prepared.weights.plan, lambda weights: estimated(weights, samples, errors))
        unseen = (
            f"a limit that differs from the claimed one by less than {prepared.weights.mde(0.9):.2g}",
            f"corrections outside the declared class ({prepared.weights.plan.corrections})",
        )
        return Judged(prepared, replace(decision, robust=robust), points, unseen)


@final
@dataclass(frozen=True)
class ExpectationJudge(Judge):
    """Exact means: every size is a case of its own, and no size is extrapolated from."""

    def cells(self, claim: Claim, line: Line) -> Iterator[Cell]:
        for size in line.sizes:
            yield from super().cells(claim, replace(line, sizes=(size,)))

    def prepare(self, claim: Claim, cell: Cell, levels: Levels, original: Claim) -> Prepared:
        assert isinstance(claim, Expectation) and isinstance(original, Expectation)
        (size,) = cell.line.sizes
        own = cell.number(original.equals, size)
        unit = abs(own) or 1.0
        weights = planned(original, cell, levels, Target.LIMIT, EXACT, unit)
        return Prepared(cell, cell.number(claim.equals, size), _margin(claim, original, own), unit, weights)

    def judge(self, claim: Claim, prepared: Prepared, observed: Observed) -> Judged:
        assert isinstance(claim, Expectation) and prepared.weights is not None
        (size,) = prepared.cell.line.sizes
        at = observed.line.sizes.index(size)
        sample = evaluate(claim.of, Cell(observed.line, prepared.cell.chosen), observed, at)
        error = rounding(claim.of, Cell(observed.line, prepared.cell.chosen), observed, at)
        points, levels = (point(size, sample),), prepared.weights.plan.levels
        if len(sample) < FEWEST_DRAWS:
            return Judged(prepared, _too_few(prepared, levels), points, detail=_FEW)
        interval = estimated(prepared.weights, [sample], [error])
        decision = decide(interval, prepared.claimed, prepared.margin, prepared.side, levels)
        unseen = (f"a mean that differs from the claimed one by less than {prepared.weights.mde(0.9):.2g}",)
        return Judged(prepared, decision, points, unseen)


_FEW = f"fewer than {FEWEST_DRAWS} draws: the assertion of light tails would carry the whole result"


def _margin(claim: Limit | Expectation, original: Limit | Expectation, own: float) -> float:
    """The margin around the claim's own value: a wrong value is judged at the distance that the right one declared."""
    margin = claim.margin
    assert margin is not None and original.margin is not None
    return margin.around(own) if own or isinstance(margin, Absolute) else original.margin.around(own)


def _too_few(prepared: Prepared, levels: Levels) -> Decision:
    return Decision.undecided(Reason.MOMENTS_UNDECLARED, prepared.claimed, prepared.margin, prepared.side, levels)
