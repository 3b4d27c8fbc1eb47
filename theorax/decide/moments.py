"""Declared moments of a random quantity; they alone say which interval for its mean is valid.

No interval for a mean holds whatever the tails are. What is not declared cannot be read off the data either: a sample
without its rare large values looks like one that has none.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from theorax.decide.bias_aware import Weights
from theorax.decide.control_variates import Variates
from theorax.decide.designs import Plan, Policy, Tails, conditions
from theorax.decide.estimators import (
    betting,
    catoni,
    deterministic,
    independent,
    paired,
    proportion,
    score_range,
    score_variance,
    scores,
    single,
)
from theorax.decide.form_fits import Averages, averages_of
from theorax.decide.interval import Interval, Student
from theorax.decide.samples import Columns
from theorax.decide.status import Reason, Refusal
from theorax.decide.sweep_decisions import WeightedMeans
from theorax.decide.verdict import Assumption, Standing
from theorax.errors import DesignError, ObservationError, problem
from theorax.names import did_you_mean, many

__all__ = [
    "LIGHT_TAILS",
    "Bounded",
    "BoundedVariance",
    "DeclaredMoments",
    "LightTails",
    "MeansOfDraws",
    "Moment",
    "TwoValues",
    "check_light_tails",
    "declared",
]

Vector = NDArray[np.float64]

LIGHT_TAILS = "light tails"
FEWEST_DRAWS = 30  # below, the assertion of light tails would carry the whole result (METHOD, section 4.3)


@dataclass(frozen=True)
class DeclaredMoments(ABC):
    """Declaration about the tails of one draw; abstract.

    Its fields are numbers, or one number for each size of a plan. In a theorem they may be expressions of letters that are
    known before a draw: these are `lowered` to numbers before anything is planned.
    """

    tails: ClassVar[Tails]

    @property
    def ends(self) -> tuple[Any, ...]:
        """The declared numbers or expressions."""
        return tuple(getattr(self, part.name) for part in fields(self))

    def lowered(self, number: Callable[[Any], tuple[float, ...]]) -> Self:
        """The same declaration in numbers, one for each size."""
        return replace(self, **{part.name: number(getattr(self, part.name)) for part in fields(self)})

    def planned(self, plan: Plan) -> Plan:
        """The plan with the width of the interval that is valid."""
        return replace(plan, tails=self.tails)

    def repeated(self) -> DeclaredMoments:
        """The declaration for a repetition on few draws, which is asked only whether it refutes."""
        return self

    @property
    def assumption(self) -> Assumption:
        """The declaration as a condition of the verdict."""
        return Assumption("moment", f"one draw of what is averaged has {self}", Standing.DECLARED)

    @property
    @abstractmethod
    def spread(self) -> float | None:
        """The largest standard deviation that the declaration leaves; None where it bounds none."""

    @abstractmethod
    def interval(self, columns: Sequence[Vector], weights: Weights) -> Interval:
        """The interval of the weighted mean that the declaration makes valid.

        **Raises:** `Refusal` for too few draws; `ObservationError` for data that leave what was declared.
        """


@final
@dataclass(frozen=True)
class LightTails(DeclaredMoments):
    """Weighted means are near normal: asserted, and refused of fewer than ``fewest`` draws."""

    fewest: int = FEWEST_DRAWS
    tails = Tails.LIGHT

    def lowered(self, number: Callable[[Any], tuple[float, ...]]) -> Self:
        return self

    def repeated(self) -> LightTails:
        return LightTails(fewest=2)

    @property
    def spread(self) -> None:
        return None

    def interval(self, columns: Sequence[Vector], weights: Weights) -> Interval:
        if (count := min(map(len, columns))) < self.fewest:
            raise Refusal(
                Reason.MOMENTS_UNDECLARED,
                f"Light tails are asserted of {many(count, 'draw')}. So few say nothing about a mean unless a bound "
                f"is known. Write at least {many(self.fewest, 'draw')}, or declare a range or a variance.",
            )
        k, bias = weights.vector, weights.bias.total
        if weights.plan.policy is Policy.PAIRED:
            return paired(np.stack(columns, axis=1), k, bias)
        return independent(columns, k, bias)

    def __str__(self) -> str:
        return "light tails, so that Student's t holds"


@dataclass(frozen=True)
class _Between(DeclaredMoments):
    """Two ends, the lower one first; abstract."""

    low: Any
    high: Any
    tails = Tails.RANGE

    def __post_init__(self) -> None:
        if _ordered(self.low, self.high) is False:
            problem(
                "moments",
                f"{type(self).__name__}({self.low}, {self.high}) is no range. Every draw must lie in it. "
                "Write the smaller number first, both finite.",
            )

    @property
    def spread(self) -> float:
        return float(np.max(np.asarray(self.high) - np.asarray(self.low))) / 2

    def interval(self, columns: Sequence[Vector], weights: Weights) -> Interval:
        k = weights.vector
        low, high = (np.broadcast_to(np.asarray(end, float), k.shape) for end in (self.low, self.high))
        self._check(columns, low, high, weights.plan)
        bottom, top = score_range(k, low, high)
        # A score is a rounded sum of what it is: the range is widened by that rounding, which costs nothing else.
        reach = len(k) * 2.0**-52 * float(np.abs(k) @ np.maximum(np.abs(low), np.abs(high)))
        return betting(scores(_table(self, columns), k), bottom - reach, top + reach, weights.bias.total)

    def _check(self, columns: Sequence[Vector], low: Vector, high: Vector, plan: Plan) -> None:
        for column, least, most, size in zip(columns, low, high, plan.sizes, strict=True):
            outside = np.flatnonzero((column < least) | (column > most))
            if outside.size:
                raise ObservationError(
                    f"Draw {outside[0] + 1} at size {size:g} is {column[outside[0]]:g}, outside the declared range "
                    f"[{least:g}, {most:g}]. An interval for the mean would be void. "
                    "Declare the range that the quantity cannot leave."
                )


@final
@dataclass(frozen=True)
class Bounded(_Between):
    """Every draw lies in [low, high], surely."""

    low: Any
    high: Any

    def __str__(self) -> str:
        return f"values in [{_shown(self.low)}, {_shown(self.high)}]"


@final
@dataclass(frozen=True)
class TwoValues(_Between):
    """Every draw is ``low`` or ``high``: the mean is a proportion."""

    low: Any = 0
    high: Any = 1

    def interval(self, columns: Sequence[Vector], weights: Weights) -> Interval:
        if len(columns) == 1 and weights.values == (1.0,):
            low, high = (float(np.ravel(end)[0]) for end in (self.low, self.high))
            return proportion(columns[0], low, high, weights.bias.total)
        return super().interval(columns, weights)

    def _check(self, columns: Sequence[Vector], low: Vector, high: Vector, plan: Plan) -> None:
        super()._check(columns, low, high, plan)
        if not all(np.isin(column, ends).all() for column, *ends in zip(columns, low, high, strict=True)):
            raise ObservationError(
                "Data declared to take two values take others. Their mean is no proportion. Declare a range instead."
            )

    def __str__(self) -> str:
        return f"the values {_shown(self.low)} and {_shown(self.high)} only"


@final
@dataclass(frozen=True)
class BoundedVariance(DeclaredMoments):
    """The variance of one draw is at most this, however heavy the tails."""

    variance: Any
    tails = Tails.VARIANCE

    def __post_init__(self) -> None:
        if _ordered(0, self.variance) is False:
            problem(
                "moments",
                f"BoundedVariance({self.variance}) bounds nothing. A variance is positive and this bound must be "
                "finite. Write the largest variance that one draw can have.",
            )

    @property
    def spread(self) -> float:
        return math.sqrt(float(np.max(np.asarray(self.variance, float))))

    def planned(self, plan: Plan) -> Plan:
        """The plan with the interval's own width: the declared variance is the planned one."""
        each = np.broadcast_to(np.asarray(self.variance, float), (len(plan.sizes),))
        return replace(plan, tails=self.tails, sd=tuple(math.sqrt(v) for v in each))

    def interval(self, columns: Sequence[Vector], weights: Weights) -> Interval:
        k = weights.vector
        v = np.broadcast_to(np.asarray(self.variance, float), k.shape)
        # Scores of unequal variances: their weights in units of the standard deviations.
        bound = score_variance(k * np.sqrt(v), 1.0, weights.plan.policy is not Policy.PAIRED)
        return catoni(scores(_table(self, columns), k), bound, weights.bias.total)

    def __str__(self) -> str:
        return f"a variance of at most {_shown(self.variance)}"


Moment = str | DeclaredMoments


def declared(moments: Moment) -> DeclaredMoments:
    """The declaration that a word or a value stands for.

    **Raises:** `DesignError` for one that is unknown.
    """
    if isinstance(moments, DeclaredMoments):
        return moments
    if moments == LIGHT_TAILS:
        return LightTails()
    raise DesignError(
        f"moments={moments!r} is no declaration under which means can be decided"
        f"{did_you_mean(str(moments), [LIGHT_TAILS])} "
        'Write "light tails", decide.Bounded(low, high), decide.TwoValues(low, high) or decide.BoundedVariance(v). '
        "If nothing can be declared, ask for a quantile instead of a mean: decide.plan_quantile."
    )


def check_light_tails(variates: Variates, moments: Moment) -> None:
    """Let pass variates beside a declaration that they leave true.

    **Raises:** `DesignError` for a declared range or variance: numbers from which variates were taken may leave either.
    """
    if variates.known and declared(moments).tails is not Tails.LIGHT:
        raise DesignError(
            f"Variates ({', '.join(variates.names)}) were declared beside {declared(moments)}. Once they are taken away the "
            'numbers may leave that. Write moments="light tails", or leave the variates out.'
        )


def planned_spread(moments: Moment) -> float:
    """The largest standard deviation that a declaration leaves, to plan with.

    **Raises:** `DesignError` where the declaration bounds none, or is unknown.
    """
    spread = declared(moments).spread
    if spread is None:
        raise DesignError(
            "No sd was planned. The weights balance bias against noise, and the data may not be asked for it. "
            "Write sd=..., from a pilot on other seeds or from what you know; a wrong one costs width, not validity."
        )
    return spread


@final
@dataclass(frozen=True)
class MeansOfDraws(WeightedMeans):
    """Weighted means of the values at every size, under what is declared of their moments.

    ``corrected``: variates were taken from the values.
    """

    moments: DeclaredMoments
    columns: Columns
    corrected: bool = False

    @property
    def kept(self) -> int:
        return len(self.columns.values)

    def interval(self, weights: Weights) -> Interval:
        k, bias = weights.vector, weights.bias.total
        if weights.plan.policy is Policy.DETERMINISTIC:
            found = deterministic(self.columns.single(weights.plan.sizes), k, bias)
        elif weights.plan.policy is Policy.SINGLE:
            found = single(np.concatenate(self.columns.values), k, conditions(weights.plan)[0], bias)
        elif self.columns.batched and self.moments.tails is not Tails.LIGHT:
            raise ObservationError(
                f"Draws that were averaged in passing were given under declared moments ({self.moments}). Their interval "
                "needs every draw. Write Stream(logs=False, keep=True)."
            )
        else:
            found = self.moments.interval(self.columns.values, weights)
        if self.corrected and isinstance(found, Student):
            found = replace(found, corrected=True)
        return replace(found, rounding=found.rounding + float(np.abs(k) @ self._errors))

    def averages(self, plan: Plan) -> Averages:
        return averages_of(self.columns.values, plan.policy, self._errors)

    @cached_property
    def _errors(self) -> Vector:
        """A bound of the error of the mean at each size."""
        return np.array([float(errors.mean()) for errors in self.columns.bounds])


def _table(moments: DeclaredMoments, columns: Sequence[Vector]) -> Vector:
    """The draws as a table ``draws x sizes``; draws of different seeds are joined in their order, which is not looked at."""
    if len({len(column) for column in columns}) > 1:
        raise ObservationError(
            f"Sizes with between {min(map(len, columns))} and {many(max(map(len, columns)), 'draw')} were given under "
            f"declared moments ({moments}). Their interval is made of one score per draw, over all sizes. "
            "Give equally many draws at every size."
        )
    return np.stack(columns, axis=1)


def _ordered(low: Any, high: Any) -> bool | None:
    """True if every lower end lies below its upper one, both finite; None while they are expressions."""
    ends: list[Any] = [np.ravel(np.asarray(end, dtype=object)) for end in (low, high)]
    if not all(isinstance(part, Real) for end in ends for part in end):
        return None
    return all(-math.inf < a < b < math.inf for a, b in zip(*np.broadcast_arrays(*ends), strict=True))


def _shown(end: float | tuple[float, ...]) -> str:
    """An end as a reader sees it: a number to six digits, an expression as it is written."""
    if isinstance(end, tuple):
        return _shown(end[0]) if len(set(end)) == 1 else f"{min(end):g} to {max(end):g}"
    return f"{end:g}" if isinstance(end, float) else str(end)
