"""Rates: the exponent of a power or the constant of an exponential, from means of logarithms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from theorax.errors import ObservationError
from theorax.theorems.language import Claim, Rate
from theorax.verifiers.bias import Target
from theorax.verifiers.decide import decide, is_robust
from theorax.verifiers.decision import Levels, Side
from theorax.verifiers.kinds.base import Judge, Judged, Prepared, class_at, estimated, planned
from theorax.verifiers.lines import Cell, Observed, evaluate, rounding
from theorax.verifiers.outcome import Point
from theorax.verifiers.planning import plateau

# What is estimated is a decay exponent, minus the exponent that a reader sees: growth of at most n^a is decay of at
# least -a.
SIDES = {"exact": Side.EQUAL, "at most": Side.AT_LEAST, "at least": Side.AT_MOST}


@final
@dataclass(frozen=True)
class RateJudge(Judge):
    """Rates; the class of corrections is declared for the logarithm, where a relative correction is an absolute one."""

    def prepare(self, claim: Claim, cell: Cell, levels: Levels, original: Claim) -> Prepared:
        assert isinstance(claim, Rate) and isinstance(original, Rate) and claim.margin is not None
        target = Target.DECAY_RATE if original.is_exponential else Target.EXPONENT
        corrections = class_at(original.approach, 1.0, cell.line.sizes[0])
        weights = planned(original, cell, levels, target, corrections, 1.0)
        exponent = cell.number(claim.exponent)
        return Prepared(cell, -exponent, claim.margin.around(exponent), 1.0, weights, SIDES[claim.side], sign=-1)

    def judge(self, claim: Claim, prepared: Prepared, observed: Observed) -> Judged:
        assert isinstance(claim, Rate) and prepared.weights is not None
        cell = prepared.cell
        samples, errors, points = [], [], []
        for at, size in enumerate(cell.line.sizes):
            values = evaluate(claim.of, cell, observed, at)
            if not (values > 0).all():
                raise ObservationError(
                    f"{claim.of} is not positive in draw {int(np.argmin(values > 0))} at {claim.as_} = {size}. "
                    "The order of growth of a quantity is read from its logarithm. State the rate of a positive one."
                )
            logs = np.log(values)
            samples.append(logs)
            errors.append(rounding(claim.of, cell, observed, at) / float(values.min()))
            middle, spread = float(np.exp(logs.mean())), float(logs.std(ddof=1) / np.sqrt(len(logs)))
            points.append(Point(float(size), middle, middle * spread, len(logs)))
        levels = prepared.weights.plan.levels
        decision = decide(
            estimated(prepared.weights, samples, errors), prepared.claimed, prepared.margin, prepared.side, levels
        )
        robust = is_robust(decision, prepared.weights.plan, lambda weights: estimated(weights, samples, errors))
        flat = plateau(prepared.weights, prepared.claimed) if prepared.claimed > 0 else 0.0
        unseen = [f"an exponent that differs from the claimed one by less than {prepared.weights.mde(0.9):.2g}"]
        if 0 < flat < np.inf:
            unseen.append(f"a plateau of up to {flat:.0%} of the last value")
        unseen.append(f"corrections outside the declared class ({prepared.weights.plan.corrections})")
        return Judged(prepared, replace(decision, robust=robust), tuple(points), tuple(unseen))
