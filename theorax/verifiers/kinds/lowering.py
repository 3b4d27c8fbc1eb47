"""What every judge of a kind of claim has in common: cells, the plan of a cell, the decision on a cell."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, TypeVar

import numpy as np
from sympy import sympify

from theorax.decide.bias_aware import Weights, solve
from theorax.decide.designs import Plan, Policy, Target
from theorax.decide.estimators import deterministic, independent, paired
from theorax.decide.interval import Interval
from theorax.decide.law_features import Frequencies
from theorax.decide.mean_intervals import LIGHT, Declared
from theorax.decide.planning import cheapest
from theorax.decide.plans import Planned
from theorax.decide.rate_estimators import RateDesign
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Reason, Side
from theorax.decide.verdict import Point
from theorax.errors import ObservationError
from theorax.language import Claim, Corrections
from theorax.verifiers.cases import sweep_lines
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.sweep_lines import Cell, SweepLine

C = TypeVar("C", bound=Claim)


@dataclass(frozen=True)
class Prepared:
    """One case of a claim before any data: the claimed value, the margin around it, and the plan it was lowered to.

    ``plan`` is what `theorax.decide` decides by; None where nothing is estimated, or (until every kind is lowered to a
    plan) where ``weights`` and ``design`` hold it.
    ``unit``: what one unit of the declared class of corrections stands for, the claimed value of the claim itself.
    ``sign``: +1, or -1 where the decided quantity is minus the one a reader sees (a decay exponent).
    ``levels``: those of this case, where no plan holds them. ``design``: what else was fixed in advance;
    ``frequencies``: where characteristic functions are compared. ``repetition``: one of a control's, at fewer draws than
    a claim is decided on; it is asked whether it refutes, never whether it supports.
    """

    cell: Cell
    claimed: float
    margin: float
    unit: float
    weights: Weights | None
    side: Side = Side.EQUAL
    sign: int = 1
    levels: Levels = DEFAULT_LEVELS
    design: RateDesign | None = None
    frequencies: Frequencies | None = None
    repetition: bool = False
    plan: Planned | None = None

    @property
    def bias(self) -> float | None:
        """The worst bias of the declared class; None where nothing is extrapolated from."""
        if self.plan is not None:
            return self.plan.bias
        return self.weights.bias.total if self.weights is not None else None

    @property
    def half_width(self) -> float | None:
        """Margins below it cannot be supported; None for what is not decided from an interval."""
        if self.plan is not None:
            return self.plan.half_width
        return self.weights.half_width if self.weights is not None else None

    @property
    def noticeable(self) -> float | None:
        """The deviation that is refuted with probability 0.9; None where there is none."""
        if self.plan is not None:
            return self.plan.noticeable if math.isfinite(self.plan.noticeable) else None
        return self.weights.mde(0.9) if self.weights is not None else None

    @property
    def weakness(self) -> str:
        """Why this design cannot decide, and the cheapest that would; empty where it can, or where none was made."""
        if self.plan is not None:
            return self.plan.weakness
        if self.weights is None or self.weights.decides(self.margin):
            return ""
        better = cheapest(self.weights.plan, self.margin)
        remedy = f"the cheapest design that would: {better}" if better else "no number of draws would: widen the margin"
        return f"a half-width of {self.half_width:.2g} (bias {self.bias:.2g}) against a margin of {self.margin:.2g}; {remedy}"

    @property
    def why_not(self) -> Reason | None:
        """Why this design cannot decide, as a code; None where it can."""
        if self.plan is not None:
            return self.plan.why_not
        return self.weights.why_not(self.margin) if self.weights is not None else None

    @property
    def expected(self) -> float | None:
        """The p-value of support where the estimate is the claimed value and its error the planned one."""
        if self.plan is not None:
            return self.plan.expected
        return self.weights.expected(self.margin) if self.weights is not None else None

    def apart(self, other: Prepared) -> float | None:
        """How far the two predictions lie apart, in the units of the margin; None where they have no distance."""
        if self.plan is not None and other.plan is not None:
            return self.plan.apart(other.plan)
        return abs(self.claimed - other.claimed) if self.weights is not None else None


@dataclass(frozen=True)
class Judged:
    """One case of a claim after the data: the decision and the table's points.

    ``rigorous``: the decision comes from rigorous arithmetic; ``covered``: and it holds for a whole domain, of which what
    was drawn is a part. ``statistical``: it has an error rate, and so a place in the suite's error budget. ``trivial``:
    the claim holds for reasons of no interest, wherever it was looked at; ``undefined``: it is nowhere defined. ``scope``:
    for what a rigorous decision holds, where that is more than what was drawn. ``tightness``: quantiles of a bound's
    left side over its right.
    """

    prepared: Prepared
    decision: Decision
    points: tuple[Point, ...]
    unseen: tuple[str, ...] = ()
    rigorous: bool = False
    covered: bool = False
    statistical: bool = True
    detail: str = ""
    trivial: bool = False
    undefined: bool = False
    scope: str = ""
    tightness: tuple[float, float, float] | None = None


class Judge(ABC, Generic[C]):
    """Decides claims of one kind; abstract.

    **Laws:** ``prepare`` depends on nothing that was drawn; ``judge`` is a function of its arguments alone.
    """

    kind: ClassVar[type[Claim]]
    # Fewest draws of a control that is repeated on a part of its design: a variance of three or less is hardly one.
    fewest: ClassVar[int] = 4
    counts_violations: ClassVar[bool] = False  # one draw can refute, so every part of a control's draws is asked

    def cells(self, claim: C, line: SweepLine) -> Iterator[Cell]:
        """The cases of the claim on this line."""
        return sweep_lines.cells(claim, line)

    @abstractmethod
    def prepare(self, claim: C, cell: Cell, levels: Levels, original: C) -> Prepared:
        """Claimed value, margin and weights; the class is that of ``original``, of which ``claim`` may be a variant."""

    @abstractmethod
    def judge(self, claim: C, prepared: Prepared, observed: Observed) -> Judged:
        """Decide the case on what was observed."""


def class_at(corrections: Corrections, unit: float, smallest: float) -> Corrections:
    """The declared class in units of y, anchored at the smallest size that is measured."""
    anchored = corrections.anchored(smallest)
    return replace(
        anchored,
        size=anchored.size * unit,
        rest=anchored.remainder * unit,
        order=anchored.remainder_order,
        loglog=anchored.loglog,
        reason=anchored.reason or "the default class, in units of the claimed value",
    )


def planned(
    claim: Claim,
    cell: Cell,
    levels: Levels,
    target: Target,
    corrections: Corrections,
    unit: float,
    declared: Declared = LIGHT,
    side: Side = Side.EQUAL,
) -> Weights:
    """The weights of the sizes of this cell, from the declared class and the declared spread of one draw."""
    line = cell.line
    spread = [unit * abs(float(cell.exact(sympify(claim.spread), size).evalf())) for size in line.sizes]
    policy = Policy.PAIRED if line.paired else Policy.INDEPENDENT
    plan = Plan(
        sizes=tuple(map(float, line.sizes)),
        corrections=corrections,
        target=target,
        sd=tuple(spread),
        draws=line.draws,
        policy=policy if line.random else Policy.DETERMINISTIC,
        side=side,
        levels=levels,
    )
    return solve(declared.planned(plan))


def sequence(samples: Sequence[np.ndarray], sizes: Sequence[int]) -> np.ndarray:
    """One value per size of what is declared to hold no randomness.

    **Raises:** `ObservationError` where two keys give two values.
    """
    for size, sample in zip(sizes, samples, strict=True):
        if (sample != sample[0]).any():
            raise ObservationError(
                f'An experiment with seeds="none" gave different values for different keys at size {size}. '
                'A sequence without randomness has one value at each size. Write seeds="independent", or do not use '
                "the key."
            )
    return np.array([float(sample[0]) for sample in samples])


def estimated(weights: Weights, samples: Sequence[np.ndarray], rounding: Sequence[float]) -> Interval:
    """The interval of the weighted means of scores near normal; bounded errors of the single values widen it."""
    k, plan, bias = weights.values, weights.plan, weights.bias.total
    if plan.policy is Policy.DETERMINISTIC:
        interval = deterministic(sequence(samples, list(map(int, plan.sizes))), k, bias)
    elif plan.policy is Policy.PAIRED:
        interval = paired(np.stack(samples, axis=1), k, bias)
    else:
        interval = independent(samples, k, bias)
    extra = float(np.abs(weights.vector) @ np.asarray(rounding))
    return replace(interval, rounding=interval.rounding + extra)


def point(size: float, sample: np.ndarray) -> Point:
    """Mean and standard error of the draws at one size."""
    spread = len(sample) > 1 and bool((sample != sample[0]).any())
    deviation = float(sample.std(ddof=1) / np.sqrt(len(sample))) if spread else None
    return Point(float(size), float(sample.mean()), deviation, len(sample))
