r"""Rates: from positive quantities to the exponent of a power or the constant of an exponential.

What is averaged is declared: the mean of the logarithm, which belongs to statements in probability, or the logarithm of
the mean, which belongs to statements about expectations. Sizes at which the quantity is no more than fifty times an
absolute floor of its values are dropped together with all larger ones; the weights for each number of sizes that may be
left are solved before the data and are part of the design.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from theorax.decide.bias_aware import Weights, solve_weights
from theorax.decide.control_variates import NO_VARIATES, Variates
from theorax.decide.designs import Plan, Policy, Target, conditions, least_sizes
from theorax.decide.estimators import (
    above_floor,
    deterministic,
    independent,
    log_of_mean,
    log_of_mean_independent,
    paired,
    pseudo_logs,
    single,
)
from theorax.decide.form_fits import Averages, averages_of
from theorax.decide.interval import Interval, Student
from theorax.decide.samples import Columns
from theorax.decide.status import Levels, Reason, Refusal
from theorax.decide.sweep_decisions import Rival, SweepDesign, WeightedMeans, first_sizes
from theorax.errors import DesignError, ObservationError
from theorax.names import many

__all__ = ["Average", "MeansOfLogs", "design_rate"]

Vector = NDArray[np.float64]

# The jackknife's level is exact up to this standard deviation of log q and becomes 0.04 for 0.025 at one.
_EXACT_JACKKNIFE = 0.6


class Average(StrEnum):
    """The quantity averaged over the draws."""

    MEAN_OF_LOG = "mean of log"
    LOG_OF_MEAN = "log of mean"


def design_rate(
    plan: Plan,
    average: Average = Average.MEAN_OF_LOG,
    floor: float = 0.0,
    rival: tuple[Plan, float, float] | None = None,
) -> SweepDesign:
    """Solve every weight that the data may call for.

    ``rival``: a plan of the other target over the same sizes, and the range of its exponents.

    **Raises:** `DesignError` for a limit, or a negative floor.
    """
    if plan.target is Target.LIMIT or not 0 <= floor < math.inf:
        raise DesignError(
            f"A rate was planned with the target {plan.target} and a floor of {floor:g}. A rate is read off logarithms "
            "of values that have a floor of zero or more. Write target=Target.EXPONENT or Target.DECAY_RATE."
        )
    share = 1.0
    if average is Average.LOG_OF_MEAN and max(plan.noise) > _EXACT_JACKKNIFE:
        share = 0.5
        plan = replace(plan, levels=Levels(share * plan.levels.support, share * plan.levels.refute))
    family = [solve_weights(plan)]
    if floor > 0:
        family += [solve_weights(first_sizes(plan, kept)) for kept in range(len(plan.sizes) - 1, _least(plan) - 1, -1)]
    other = None
    if rival is not None:
        other_plan, low, high = rival
        if {plan.target, other_plan.target} != {Target.EXPONENT, Target.DECAY_RATE} or other_plan.sizes != plan.sizes:
            raise DesignError(
                f"The rival of a claim about the {plan.target} has the target {other_plan.target}, or other sizes. "
                "A power's rival is an exponential over the same sizes, and the other way round. Change its plan."
            )
        other = Rival(solve_weights(replace(other_plan, levels=plan.levels)), low, high)
    return SweepDesign(tuple(family), other, share)


@dataclass(frozen=True)
class MeansOfLogs(WeightedMeans):
    """Positive draws at the sizes above a floor, and a bound of the error of each mean logarithm.

    ``logs``: the columns are logarithms already. ``corrected``: variates were taken from them; ``raw``: why variates were
    not taken from them, where some were drawn.
    """

    columns: tuple[Vector, ...]
    errors: Vector
    average: Average
    logs: bool = False
    corrected: bool = False
    raw: str = ""

    @property
    def kept(self) -> int:
        return len(self.columns)

    def interval(self, weights: Weights) -> Interval:
        found = self._interval(weights)
        return replace(found, corrected=True) if self.corrected and isinstance(found, Student) else found

    def _interval(self, weights: Weights) -> Interval:
        k, policy = weights.vector, weights.plan.policy
        bias = weights.bias.total + float(np.abs(k) @ self.errors)
        if policy is Policy.DETERMINISTIC:
            return deterministic([math.log(column[0]) for column in self.columns], k, bias)
        if policy is Policy.SINGLE:
            return single(self._logarithms, k, conditions(weights.plan)[0], bias)
        if self.average is Average.LOG_OF_MEAN:
            if policy is Policy.PAIRED:
                return log_of_mean(np.stack(self.columns, axis=1), k, bias)
            return log_of_mean_independent(self.columns, k, bias)
        logs = self.columns if self.logs else [np.log(column) for column in self.columns]
        return paired(np.stack(logs, axis=1), k, bias) if policy is Policy.PAIRED else independent(logs, k, bias)

    @property
    def _logarithms(self) -> Vector:
        """The logarithm of the one value at each size."""
        return np.array([float(column[0]) if self.logs else math.log(column[0]) for column in self.columns])

    def averages(self, plan: Plan) -> Averages:
        if self.logs:
            return averages_of(self.columns, plan.policy, self.errors)
        if self.average is Average.LOG_OF_MEAN and plan.policy in (Policy.PAIRED, Policy.INDEPENDENT):
            found = averages_of([pseudo_logs(column) for column in self.columns], plan.policy, self.errors)
            means = np.log([float(column.mean()) for column in self.columns])
            return replace(found, values=means)
        return averages_of([np.log(column) for column in self.columns], plan.policy, self.errors)

    @classmethod
    def of(
        cls,
        plan: Plan,
        observed: Columns,
        average: Average = Average.MEAN_OF_LOG,
        floor: float = 0.0,
        variates: Variates = NO_VARIATES,
    ) -> MeansOfLogs:
        """The draws above the floor, less what variates explain of them, or of their logarithms if these are averaged.

        A floor moves log q by at most -log(1 - floor/q), in each draw or in their mean, whichever is averaged. A mean that
        is not positive once variates are taken away has no logarithm: the numbers then stay as they were drawn.

        **Raises:** `ObservationError` for values that are not positive where no floor explains them; `Refusal` where
        fewer than three sizes are clear of the floor, or values may err by as much as they are.
        """
        columns = list(observed.values)
        if len(columns) != len(plan.sizes):
            raise ObservationError(
                f"{many(len(columns), 'size')} of draws met a design of {len(plan.sizes)}. Each weight belongs to one. "
                "Give one column of draws for each size."
            )
        if plan.policy is Policy.DETERMINISTIC:
            observed.single(plan.sizes)  # refuses what is random after all
        if observed.logs:
            if average is not Average.MEAN_OF_LOG or floor:
                raise ObservationError(
                    "Draws that were averaged in passing were given where a floor or the logarithm of a mean is asked "
                    "for. Both need every draw. Write Stream(logs=..., keep=True)."
                )
            return cls(observed.values, np.zeros(len(columns)), average, logs=True)
        kept = _clear_of(floor, columns, average, _least(plan))
        columns = columns[:kept]
        _positive(columns, plan.sizes)
        own = [
            float(-np.log1p(-floor / (column if average is Average.MEAN_OF_LOG else column.mean())).mean())
            for column in columns
        ]
        given = [_log_error(*at) for at in zip(observed.bounds, columns, plan.sizes, strict=False)]
        raw = cls(tuple(columns), np.asarray(own) + np.asarray(given), average)
        return raw._less(variates, observed) if variates.corrects(observed) else raw

    def _less(self, variates: Variates, observed: Columns) -> MeansOfLogs:
        """The same draws less what variates explain of them."""
        if self.average is Average.MEAN_OF_LOG:
            values, added = variates.averaged(observed, [np.log(column) for column in self.columns])
            more = np.array([float(part.mean()) for part in added])
            return replace(self, columns=values, errors=self.errors + more, logs=True, corrected=True)
        values, added = variates.averaged(observed, self.columns)
        # An error e of a mean q moves its logarithm by at most -log(1 - e/q); both errors stand over the corrected mean.
        means = np.array([float(column.mean()) for column in values])
        apart = -np.expm1(-self.errors) * np.array([float(column.mean()) for column in self.columns])
        moved = apart + np.array([float(part.mean()) for part in added])
        without = [(column.sum() - column.max()) / max(1, len(column) - 1) for column in values]
        if (means <= moved).any() or min(without) <= 0:
            return replace(self, raw="the mean of the corrected numbers is not positive at some size")
        return replace(self, columns=values, errors=-np.log1p(-moved / means), corrected=True)


def _clear_of(floor: float, columns: Sequence[Vector], average: Average, least: int) -> int:
    """Number of sizes clear of the floor."""
    if not floor:
        return len(columns)
    means = np.array([column.mean() for column in columns])
    if average is Average.MEAN_OF_LOG:
        # One draw at the floor has a logarithm without bound: the size counts as below it.
        means = np.where([bool((column > floor).all()) for column in columns], means, 0.0)
    return above_floor(means, floor, least)


def _positive(columns: Sequence[Vector], sizes: Sequence[float]) -> None:
    for size, column in zip(sizes, columns, strict=False):
        if not (np.isfinite(column).all() and (column > 0).all()):
            at = int(np.argmin(np.isfinite(column) & (column > 0)))
            raise ObservationError(
                f"The quantity is {column[at]:g} in draw {at} at size {size:g}. The order of growth of a quantity is "
                "read from its logarithm. State the rate of a positive one, or declare the floor of its values."
            )


def _log_error(bounds: Vector, values: Vector, size: float) -> float:
    """A bound of the error of the mean logarithm: a value moved by at most e moves its own by at most -log(1 - e/q)."""
    if not bounds.any():
        return 0.0
    if (bounds >= values).any():
        raise Refusal(
            Reason.NUMERIC_FLOOR,
            f"At size {size:g} the declared error of the quantity is as large as the quantity in some draw. "
            "Its logarithm may be anything. Write smaller sizes, a finer dtype, or the floor of the claim.",
        )
    return float(-np.log1p(-bounds / values).mean())


def _least(plan: Plan) -> int:
    """The fewest sizes that can still decide: three, and one more than the conditions on the weights."""
    return max(3, least_sizes(plan))
