"""What limits and exact means share: the declared tails in numbers, the interval of a mean, the margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from theorax.decide.bias_aware import Weights
from theorax.decide.designs import Policy
from theorax.decide.interval import Interval
from theorax.decide.mean_intervals import LIGHT, Declared, mean_of
from theorax.decide.status import Decision, Levels, Refusal
from theorax.decide.verdict import Point
from theorax.language import (
    Absolute,
    Bounded,
    BoundedVariance,
    Expectation,
    Limit,
    TwoValues,
)
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.lowering import Judged, Prepared, estimated


def declared(claim: Limit | Expectation, cell: Cell, sizes: Sequence[int]) -> Declared:
    """The claim's declaration in numbers, at each of these sizes."""
    moments = claim.moments
    if isinstance(moments, Bounded | TwoValues):
        low, high = (tuple(cell.number(end, size) for size in sizes) for end in (moments.low, moments.high))
        return Declared("range" if isinstance(moments, Bounded) else "two values", low, high)
    if isinstance(moments, BoundedVariance):
        return Declared("variance", variance=tuple(cell.number(moments.variance, size) for size in sizes))
    return LIGHT


def known_of(claim: Limit | Expectation, prepared: Prepared, sizes: Sequence[int]) -> Declared:
    """The same, of a repetition at two draws or more."""
    found = declared(claim, prepared.cell, sizes)
    return replace(found, fewest=2) if prepared.repetition else found


def mean_interval(
    known: Declared, weights: Weights, samples: Sequence[np.ndarray], errors: Sequence[float]
) -> Interval:
    """The interval of the weighted mean under the declared tails."""
    if weights.plan.policy is Policy.DETERMINISTIC:
        return estimated(weights, samples, errors)
    return mean_of(known, weights, samples, np.asarray(errors))


def margin_of(claim: Limit | Expectation, original: Limit | Expectation, own: float) -> float:
    """The margin around the claim's own value: a wrong value is judged at the distance that the right one declared."""
    margin = claim.margin
    assert margin is not None and original.margin is not None
    return margin.around(own) if own or isinstance(margin, Absolute) else original.margin.around(own)


def undecided(prepared: Prepared, levels: Levels, refusal: Refusal, points: tuple[Point, ...]) -> Judged:
    """A case that the data do not allow to decide, and why."""
    decision = Decision.undecided(refusal.reason, prepared.claimed, prepared.margin, prepared.side, levels)
    return Judged(prepared, decision, points, detail=str(refusal))
