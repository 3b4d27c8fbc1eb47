"""Rates: the exponent of a power or the constant of an exponential, from means of logarithms or logarithms of means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from theorax.decide.bias_aware import Bias, Weights
from theorax.decide.designs import Plan, Policy, Target
from theorax.decide.equivalence import decide, is_robust
from theorax.decide.interval import Interval
from theorax.decide.law_distance import law_point
from theorax.decide.law_rates import rate_of_law
from theorax.decide.planning import CONTRADICTED, alarmed, plateau
from theorax.decide.rate_estimators import Average, RateDesign, decide_rate, design_rate
from theorax.decide.status import Decision, Levels, Reason, Refusal, Side
from theorax.decide.verdict import Point
from theorax.language import Corrections, Rate
from theorax.verifiers.cases.evaluation import Observed, evaluate, roundings
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.law_lowering import law_features, law_frequencies, observed_features
from theorax.verifiers.kinds.lowering import Judge, Judged, Prepared, class_at, planned, sequence

# What is estimated is a decay exponent, minus the exponent that a reader sees: growth of at most n^a is decay of at
# least -a.
SIDES = {"exact": Side.EQUAL, "at most": Side.AT_LEAST, "at least": Side.AT_MOST}


@final
@dataclass(frozen=True)
class RateJudge(Judge[Rate]):
    """Rates; the class of corrections is declared for the logarithm, where a relative correction is an absolute one."""

    kind = Rate

    def prepare(self, claim: Rate, cell: Cell, levels: Levels, original: Rate) -> Prepared:
        assert claim.margin is not None
        target, other = Target.EXPONENT, Target.DECAY_RATE
        if original.is_exponential:
            target, other = other, target
        exponent, side = cell.number(claim.exponent), SIDES[claim.side]
        frequencies = law_frequencies(original, cell) if original.to is not None else None

        def plan(target: Target, corrections: Corrections) -> Plan:
            anchored = class_at(corrections, 1.0, cell.line.sizes[0])
            return planned(original, cell, levels, target, anchored, 1.0, side=SIDES[original.side]).plan

        rival = None
        if claim.rules_out is not None:
            # Decay exponents, so the ends change places.
            low, high = sorted(-cell.number(end) for end in claim.rules_out)
            rival = (plan(other, claim.rival), low, high)
        design = design_rate(
            plan(target, original.approach), Average(original.average), cell.number(original.floor), rival
        )
        margin = claim.margin.around(exponent)
        return Prepared(
            cell, -exponent, margin, 1.0, design.weights, side, sign=-1, design=design, frequencies=frequencies
        )

    def judge(self, claim: Rate, prepared: Prepared, observed: Observed) -> Judged:
        assert isinstance(prepared.design, RateDesign)
        if claim.to is not None:
            return _of_law(claim, prepared, observed)
        cell, design, sizes = prepared.cell, prepared.design, prepared.cell.line.sizes
        samples = [evaluate(claim.of, cell, observed, at) for at in range(len(sizes))]
        if design.weights.plan.policy is Policy.DETERMINISTIC:
            sequence(samples, sizes)  # refuses what is random after all
        points = tuple(_point(size, sample) for size, sample in zip(sizes, samples, strict=True))
        try:
            errors = [_error(claim, cell, observed, at) for at in range(len(sizes))]
            decision, weights, alarm = decide_rate(
                design, samples, prepared.claimed, prepared.margin, prepared.side, errors
            )
        except Refusal as refusal:
            decision = Decision.undecided(
                refusal.reason, prepared.claimed, prepared.margin, prepared.side, design.levels
            )
            return Judged(prepared, decision, points, detail=str(refusal))
        unseen = _unseen(design, weights, prepared.claimed)
        return Judged(prepared, decision, points, unseen, detail=CONTRADICTED if alarm else "")


def _of_law(claim: Rate, prepared: Prepared, observed: Observed) -> Judged:
    """How fast a law approaches its limit, from the unbiased squared distance at each size."""
    assert claim.to is not None and prepared.frequencies is not None and isinstance(prepared.design, RateDesign)
    cell, weights, plan = prepared.cell, prepared.design.weights, prepared.design.weights.plan
    target = law_features(claim.to, cell, prepared.frequencies)
    tables = [observed_features(claim, cell, observed, at, prepared.frequencies) for at in range(len(plan.sizes))]
    points = tuple(law_point(size, table, target) for size, table in zip(cell.line.sizes, tables, strict=True))

    def estimate(weights: Weights) -> Interval:
        return rate_of_law(tables, target, weights)

    def along(direction: np.ndarray, bias: float) -> Interval:
        return estimate(Weights(plan, tuple(map(float, direction)), Bias(given=bias)))

    try:
        decision = decide(estimate(weights), prepared.claimed, prepared.margin, prepared.side, plan.levels)
        decision = replace(decision, robust=is_robust(decision, plan, estimate))
        decision, detail = alarmed(decision, plan, along)
    except Refusal as refusal:
        decision = Decision.undecided(refusal.reason, prepared.claimed, prepared.margin, prepared.side, plan.levels)
        return Judged(prepared, decision, points, detail=str(refusal))
    return Judged(prepared, decision, points, _unseen(prepared.design, weights, prepared.claimed), detail=detail)


def _error(claim: Rate, cell: Cell, observed: Observed, at: int) -> float:
    """A value moved by at most e moves its logarithm by at most -log(1 - e/q)."""
    bounds, values = roundings(claim.of, cell, observed, at), evaluate(claim.of, cell, observed, at)
    if not bounds.any():
        return 0.0
    if (bounds >= values).any():
        raise Refusal(
            Reason.NUMERIC_FLOOR,
            f"At size {cell.line.sizes[at]} the declared error of {claim.of} is as large as the quantity in some draw. "
            "Its logarithm may be anything. Write smaller sizes, a finer dtype, or the floor of the claim.",
        )
    return float(-np.log1p(-bounds / values).mean())


def _unseen(design: RateDesign, weights: Weights, claimed: float) -> tuple[str, ...]:
    found = [f"an exponent that differs from the claimed one by less than {weights.mde(0.9):.2g}"]
    flat = plateau(weights, claimed) if claimed > 0 else 0.0
    if 0 < flat < np.inf:
        found.append(f"a plateau of up to {flat:.0%} of the last value")
    if (dropped := len(design.weights.plan.sizes) - len(weights.plan.sizes)) > 0:
        found.append(f"the {dropped} largest sizes, where the quantity is within fifty floors of {design.floor:.1e}")
    found.append(f"corrections outside the declared class ({weights.plan.corrections})")
    return tuple(found)


def _point(size: int, values: np.ndarray) -> Point:
    """The geometric mean with its standard error to first order; the mean where values are not positive."""
    if not (values > 0).all() or len(values) < 2 or (values == values[0]).all():
        return Point(float(size), float(values.mean()), None, len(values))
    logs = np.log(values)
    middle, spread = float(np.exp(logs.mean())), float(logs.std(ddof=1) / np.sqrt(len(logs)))
    return Point(float(size), middle, middle * spread, len(logs))
