"""Limits of means: the bias-aware decision on weighted means of draws at several sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from theorax.decide.bias_aware import Bias, Weights
from theorax.decide.designs import Target
from theorax.decide.equivalence import decide, is_robust
from theorax.decide.interval import Interval
from theorax.decide.planning import alarmed
from theorax.decide.status import Levels, Refusal
from theorax.language import (
    Limit,
)
from theorax.verifiers.cases.evaluation import Observed, evaluate, rounding
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.declared_means import declared, known_of, margin_of, mean_interval, undecided
from theorax.verifiers.kinds.lowering import Judge, Judged, Prepared, class_at, planned, point


@final
@dataclass(frozen=True)
class LimitJudge(Judge[Limit]):
    """Limits: the declared class of finite-size corrections bounds what the largest size still differs by."""

    kind = Limit

    def prepare(self, claim: Limit, cell: Cell, levels: Levels, original: Limit) -> Prepared:
        assert original.margin is not None
        own = cell.number(original.to)
        unit = abs(own) or 1.0
        corrections = class_at(original.approach, unit, cell.line.sizes[0])
        weights = planned(
            original, cell, levels, Target.LIMIT, corrections, unit, declared(original, cell, cell.line.sizes)
        )
        margin = margin_of(claim, original, own)
        return Prepared(cell, cell.number(claim.to), margin, unit, weights)

    def judge(self, claim: Limit, prepared: Prepared, observed: Observed) -> Judged:
        assert prepared.weights is not None
        cell, count = prepared.cell, len(prepared.cell.line.sizes)
        samples = [evaluate(claim.of, cell, observed, i) for i in range(count)]
        errors = [rounding(claim.of, cell, observed, i) for i in range(count)]
        points = tuple(point(size, sample) for size, sample in zip(cell.line.sizes, samples, strict=True))
        plan, known = prepared.weights.plan, known_of(claim, prepared, cell.line.sizes)

        def estimate(weights: Weights) -> Interval:
            return mean_interval(known, weights, samples, errors)

        def along(direction: np.ndarray, bias: float) -> Interval:
            return estimate(Weights(plan, tuple(map(float, direction)), Bias(given=bias)))

        try:
            decision = decide(estimate(prepared.weights), prepared.claimed, prepared.margin, prepared.side, plan.levels)
            decision = replace(decision, robust=is_robust(decision, plan, estimate))
            decision, detail = alarmed(decision, plan, along)
        except Refusal as refusal:
            return undecided(prepared, plan.levels, refusal, points)
        unseen = (
            f"a limit that differs from the claimed one by less than {prepared.weights.mde(0.9):.2g}",
            f"corrections outside the declared class ({plan.corrections})",
        )
        return Judged(prepared, decision, points, unseen, detail=detail)
