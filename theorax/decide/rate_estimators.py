r"""Rates: from positive quantities to the exponent of a power or the constant of an exponential.

What is averaged is declared: the mean of the logarithm, which belongs to statements in probability, or the logarithm of
the mean, which belongs to statements about expectations. Sizes at which the quantity is no more than fifty times an
absolute floor of its values are dropped together with all larger ones; the weights for each number of sizes that may be
left are solved before the data and are part of the design.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theorax.decide.bias_aware import Bias, Weights, solve
from theorax.decide.designs import Plan, Policy, Target, least_sizes
from theorax.decide.equivalence import against, decide, is_robust, withheld
from theorax.decide.estimators import (
    above_floor,
    deterministic,
    independent,
    log_of_mean,
    log_of_mean_independent,
    paired,
)
from theorax.decide.interval import Interval
from theorax.decide.planning import misfit
from theorax.decide.status import Decision, Levels, Reason, Refusal, Side
from theorax.decide.summaries import Summary
from theorax.errors import DesignError, ObservationError, StatementError

__all__ = [
    "Average",
    "RateData",
    "RateDesign",
    "Reading",
    "Rival",
    "Summarised",
    "decide_rate",
    "decide_reading",
    "design_rate",
]

Vector = NDArray[np.float64]

# The jackknife's level is exact up to this standard deviation of log q and becomes 0.04 for 0.025 at one.
_EXACT_JACKKNIFE = 0.6


class Average(StrEnum):
    """What is averaged over the draws."""

    MEAN_OF_LOG = "mean of log"
    LOG_OF_MEAN = "log of mean"


@dataclass(frozen=True)
class Rival:
    """The other form (power against exponential) at every exponent from ``low`` to ``high``, which support excludes.

    Exponents are those of decay, as for the claim itself. ``weights`` are for all sizes; truncations are derived.
    """

    weights: Weights
    low: float
    high: float

    def __post_init__(self) -> None:
        if not -math.inf < self.low <= self.high < math.inf:
            raise StatementError(
                f"A rival form with exponents from {self.low:g} to {self.high:g} was declared. Some member of an "
                "unbounded family fits any finite sweep. Write a finite range, the smaller number first."
            )


@dataclass(frozen=True)
class RateDesign:
    """Weights for every number of sizes that a floor may leave, the average and the rival: fixed before a draw."""

    family: tuple[Weights, ...]  # all sizes first
    average: Average = Average.MEAN_OF_LOG
    floor: float = 0.0
    rival: Rival | None = None
    share: float = 1.0  # of the levels of the claim that the decision spends

    @property
    def weights(self) -> Weights:
        """The weights of all sizes."""
        return self.family[0]

    @property
    def levels(self) -> Levels:
        """The levels of the claim; the weights are planned, and the decision made, at their share."""
        spent = self.weights.plan.levels
        return Levels(spent.support / self.share, spent.refute / self.share)


def design_rate(
    plan: Plan,
    average: Average = Average.MEAN_OF_LOG,
    floor: float = 0.0,
    rival: tuple[Plan, float, float] | None = None,
) -> RateDesign:
    """Solve every weight that the data may call for.

    ``rival``: a plan of the other target over the same sizes, and the range of its exponents.

    **Raises:** `DesignError` for a limit, or a negative floor.
    """
    if plan.target is Target.LIMIT or not 0 <= floor < math.inf:
        raise DesignError(
            f"A rate was planned with the target {plan.target} and a floor of {floor:g}. A rate is read off logarithms "
            "of values that have a floor of zero or more. Write target=Target.EXPONENT or Target.DECAY_RATE."
        )
    average, share = Average(average), 1.0
    if average is Average.LOG_OF_MEAN and max(plan.noise) > _EXACT_JACKKNIFE:
        share = 0.5
        plan = replace(plan, levels=Levels(share * plan.levels.support, share * plan.levels.refute))
    family = [solve(plan)]
    if floor > 0:
        family += [solve(_first(plan, kept)) for kept in range(len(plan.sizes) - 1, _least(plan) - 1, -1)]
    other = None
    if rival is not None:
        other_plan, low, high = rival
        if {plan.target, other_plan.target} != {Target.EXPONENT, Target.DECAY_RATE} or other_plan.sizes != plan.sizes:
            raise DesignError(
                f"The rival of a claim about the {plan.target} has the target {other_plan.target}, or other sizes. "
                "A power's rival is an exponential over the same sizes, and the other way round. Change its plan."
            )
        other = Rival(solve(replace(other_plan, levels=plan.levels)), low, high)
    return RateDesign(tuple(family), average, float(floor), other, share)


class Reading(ABC):
    """What a decision asks of the draws: an interval under any weights; abstract."""

    @property
    @abstractmethod
    def kept(self) -> int:
        """How many sizes may be read."""

    @abstractmethod
    def interval(self, weights: Weights) -> Interval:
        """The exponent under these weights (of all sizes that were kept), its bias that of the class and the floor."""


@dataclass(frozen=True)
class Summarised(Reading):
    """The mean logarithms of draws that were summarised in passing; without a floor."""

    summary: Summary

    @property
    def kept(self) -> int:
        return len(self.summary.counts)

    def interval(self, weights: Weights) -> Interval:
        return self.summary.interval(weights.vector, weights.bias.total)


@dataclass(frozen=True)
class RateData(Reading):
    """Positive draws at the sizes that were kept, and a bound of the error of each mean logarithm."""

    columns: tuple[Vector, ...]
    errors: Vector
    average: Average

    @property
    def kept(self) -> int:
        return len(self.columns)

    def interval(self, weights: Weights) -> Interval:
        k, policy = weights.vector, weights.plan.policy
        bias = weights.bias.total + float(np.abs(k) @ self.errors)
        if policy is Policy.DETERMINISTIC:
            return deterministic([math.log(column[0]) for column in self.columns], k, bias)
        if self.average is Average.LOG_OF_MEAN:
            if policy is Policy.PAIRED:
                return log_of_mean(np.stack(self.columns, axis=1), k, bias)
            return log_of_mean_independent(self.columns, k, bias)
        logs = [np.log(column) for column in self.columns]
        return paired(np.stack(logs, axis=1), k, bias) if policy is Policy.PAIRED else independent(logs, k, bias)

    @classmethod
    def of(cls, design: RateDesign, samples: Sequence[ArrayLike], errors: ArrayLike = 0.0) -> RateData:
        """The draws above the floor; ``errors`` bound what else may be wrong with each mean logarithm.

        A floor moves log q by at most -log(1 - floor/q), in each draw or in their mean, whichever is averaged.

        **Raises:** `ObservationError` for values that are not positive where no floor explains them; `Refusal` where
        fewer than three sizes are clear of the floor.
        """
        plan, floor = design.weights.plan, design.floor
        columns = [np.asarray(sample, float) for sample in samples]
        if len(columns) != len(plan.sizes):
            raise ObservationError(
                f"{len(columns)} sizes of draws met a design of {len(plan.sizes)} sizes. Each weight belongs to one. "
                "Give one column of draws for each size."
            )
        if floor > 0:
            means = np.array([column.mean() for column in columns])
            if design.average is Average.MEAN_OF_LOG:
                # One draw at the floor has a logarithm without bound: the size counts as below it.
                means = np.where([bool((column > floor).all()) for column in columns], means, 0.0)
            kept, _ = above_floor(means, floor, _least(plan))
            columns = columns[:kept]
        else:
            kept = len(columns)
        for size, column in zip(plan.sizes, columns, strict=False):
            if not (np.isfinite(column).all() and (column > 0).all()):
                at = int(np.argmin(np.isfinite(column) & (column > 0)))
                raise ObservationError(
                    f"The quantity is {column[at]:g} in draw {at} at size {size:g}. The order of growth of a quantity is "
                    "read from its logarithm. State the rate of a positive one, or declare the floor of its values."
                )
        own = [
            float(-np.log1p(-floor / (column if design.average is Average.MEAN_OF_LOG else column.mean())).mean())
            for column in columns
        ]
        given = np.broadcast_to(np.asarray(errors, float), (len(plan.sizes),))[:kept]
        return cls(tuple(columns), np.asarray(own) + given, design.average)


def decide_rate(
    design: RateDesign,
    samples: Sequence[ArrayLike],
    claimed: float,
    margin: float,
    side: Side = Side.EQUAL,
    errors: ArrayLike = 0.0,
) -> tuple[Decision, Weights, bool]:
    """The decision, the weights that the floor left, and whether the misfit alarm fired.

    Where the design spends a share of the levels, p-values are over that share: held against the levels of the claim,
    or of a suite, they reject what the decision did.

    | finding | status |
    |---|---|
    | as `decide` | supported, refuted or inconclusive |
    | supported, but the rival's interval meets its declared range | inconclusive |
    | supported or inconclusive, and the misfit alarm fired | inconclusive, class refuted |
    | refuted, and the misfit alarm fired | refuted, not robust |

    **Raises:** as `RateData.of`.
    """
    return decide_reading(design, RateData.of(design, samples, errors), claimed, margin, side)


def decide_reading(
    design: RateDesign, data: Reading, claimed: float, margin: float, side: Side = Side.EQUAL
) -> tuple[Decision, Weights, bool]:
    """The same for draws that were read already."""
    weights = _of_size(design.family, data.kept)
    plan = weights.plan
    decision = decide(data.interval(weights), claimed, margin, side, plan.levels)
    decision = replace(decision, robust=is_robust(decision, plan, data.interval))
    if design.rival is not None:
        whole = design.rival.weights
        other = solve(_first(whole.plan, data.kept))
        decision = against(decision, data.interval(other), design.rival.low, design.rival.high)
    alarm = misfit(plan, _along(data, plan))
    decision = withheld(decision, Reason.CLASS_REFUTED) if alarm else decision
    reported = replace(
        decision,
        p_refute=min(1.0, decision.p_refute / design.share),
        p_support=min(1.0, decision.p_support / design.share),
        levels=design.levels,
    )
    return reported, weights, alarm


def _along(data: Reading, plan: Plan) -> Callable[[Vector, float], Interval]:
    def interval(direction: Vector, bias: float) -> Interval:
        return data.interval(Weights(plan, tuple(map(float, direction)), Bias(given=bias)))

    return interval


def _of_size(family: Sequence[Weights], kept: int) -> Weights:
    found = [weights for weights in family if len(weights.plan.sizes) == kept]
    if not found:
        raise Refusal(
            Reason.NUMERIC_FLOOR,
            f"Only {kept} sizes are above the numerical floor, and the design has no weights for so few. "
            "Write smaller sizes, or a finer dtype.",
        )
    return found[0]


def _least(plan: Plan) -> int:
    """The fewest sizes that can still decide: three, and one more than the conditions on the weights."""
    return max(3, least_sizes(plan))


def _first(plan: Plan, kept: int) -> Plan:
    return replace(
        plan,
        sizes=plan.sizes[:kept],
        sd=plan.noise[:kept],
        errors=plan.given_errors[:kept],
        draws=plan.planned_draws[:kept],
    )
