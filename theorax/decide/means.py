"""Means under declared moments, and quantiles under none, at one size: nothing is extrapolated."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, cast, final

import numpy as np

from theorax.decide.bias_aware import Weights, solve_weights
from theorax.decide.control_variates import (
    NO_VARIATES,
    MeanTest,
    Variate,
    Variates,
    declared_line,
    fewest_draws_with,
    gain_of,
    look_at_means,
    mean_tests,
    measured_gain,
    planned,
    with_draws,
)
from theorax.decide.corrections import Corrections
from theorax.decide.designs import ASSURED, Plan, Target
from theorax.decide.draw_guards import Spreads, look_at_draws, scatter
from theorax.decide.equivalence import decide
from theorax.decide.guard_findings import NOTHING_LOOKED_AT, Looked, all_looked
from theorax.decide.interval import Interval
from theorax.decide.kinds import DecidedQuantity, KindWords
from theorax.decide.limits import LIMIT_SIDES
from theorax.decide.moments import LIGHT_TAILS, MeansOfDraws, Moment, check_light_tails, declared, planned_spread
from theorax.decide.own_verdicts import one_law_verdict
from theorax.decide.planning import cheapest
from theorax.decide.plans import NOTICED, Planned, Seeds, Tested, chosen, draw_counts, per_size, positive, refused
from theorax.decide.quantiles import fewest_for_a_limit, planned_sd, power_of_quantile
from theorax.decide.quantiles import quantile_of_draws as quantile_of
from theorax.decide.samples import Columns, float_array, mean_point
from theorax.decide.skewness import told_of_tails
from theorax.decide.status import DEFAULT_LEVELS, Levels, Reading, Reason, Refusal
from theorax.decide.streams import Stream
from theorax.decide.verdict import Assumption, Standing, VarianceGain, Verdict
from theorax.decide.wide_margins import NO_MEANING, of_zero, passes_anything
from theorax.errors import DesignError, ObservationError
from theorax.names import many
from theorax.text.numbers import as_typed

__all__ = ["MeanPlan", "QuantilePlan", "mean", "plan_mean", "plan_quantile", "quantile"]

WORDS = KindWords(
    "expectation",
    DecidedQuantity("mean", has_margin=True),
    deviation="a mean off by {}",
    spread_of=" of the claimed value",
)
QUANTILES = KindWords("quantile", DecidedQuantity("quantile", has_margin=True), deviation="a quantile off by {}")
"""Words of this kind in every report."""

_SD = 1.0  # of a quantile's draws, where none is stated
_EXACT = Corrections(size=0.0, rest=0.0, reason="nothing is extrapolated")


@dataclass(frozen=True, kw_only=True)
class _OneSize(Planned):
    """A plan whose draws all have one law; ``size``: the size at which they are made, where there is one."""

    to: float
    draws: int = 32
    sd: float = _SD
    side: str = "exact"
    seeds: Seeds = Seeds.INDEPENDENT
    size: float | None = None
    of: str = "x"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "margin", positive("margin", self.margin, "the smallest error that would matter"))
        chosen("side", self.side, LIMIT_SIDES)
        self.core  # noqa: B018  (what cannot be planned is told now)

    @property
    @abstractmethod
    def core(self) -> Plan:
        """The part of the plan that the width depends on."""

    @property
    def weights(self) -> Weights:
        """The one weight, which is one."""
        return solve_weights(self.core)

    @property
    def claimed(self) -> float:
        return self.to

    @property
    def bias(self) -> float:
        return 0.0

    @property
    def no_meaning(self) -> str:
        return NO_MEANING if passes_anything(self.to, self.margin, LIMIT_SIDES[self.side]) else ""

    @property
    def half_width(self) -> float:
        return self.weights.half_width

    @property
    def noticeable(self) -> float:
        return self.forgiven + self.weights.mde(NOTICED)

    @property
    def why_not(self) -> Reason | None:
        return self.weights.why_not(self.margin)

    def apart(self, other: Planned) -> float | None:
        return abs(self.to - other.to) if isinstance(other, _OneSize) else None

    @property
    def cost(self) -> float:
        return float(self.draws)

    @property
    def design(self) -> str:
        return many(self.draws, "draw")

    @property
    def random(self) -> bool:
        return self.seeds is not Seeds.NONE

    def power(self) -> float:
        """The probability of support when the claim holds exactly."""
        return self.weights.power(self.margin)

    def cheapest(self, power: float = ASSURED) -> Self | None:
        found = cheapest(self.core, self.margin, power, doublings=0)
        return None if found is None else replace(self, draws=max(found.weights.plan.planned_draws))

    def tested(self, observed: Columns) -> Tested:
        """Decide on the draws.

        **Raises:** `ObservationError` for values outside the declared range.
        """
        points = observed.points or (mean_point(self.size or 0.0, observed.values[0]),)
        side = LIMIT_SIDES[self.side]
        try:
            decision = decide(self._interval(observed), self.to, self.margin, side, self.levels, self.reading)
        except Refusal as refusal:
            return refused(refusal, self, self.to, side, points)
        unseen = tuple(of_zero(self.kind_words.quantity.name, self.to, self.margin, points))
        return Tested(decision, points, unseen, told_of_tails(decision))

    @property
    @abstractmethod
    def is_spread_stated(self) -> bool:
        """True if the planned spread is not the one that follows from a declaration, or the default."""

    @property
    def planned_spreads(self) -> tuple[float, ...]:
        return (self.sd,)

    def scatter(self, observed: Columns) -> tuple[float, ...]:
        """The standard deviation of one draw."""
        return scatter(observed.points or (mean_point(self.size or 0.0, observed.values[0]),))

    def looked_at(self, observed: Columns) -> Looked:
        """Look at numbers of one's own for more than the mean."""
        spreads = Spreads(self.scatter(observed), self.planned_spreads, self.is_spread_stated)
        return look_at_draws(observed, spreads, self.of)

    @abstractmethod
    def _interval(self, observed: Columns) -> Interval:
        """The interval that is valid for it."""

    def _planned(self, sd: float) -> Plan:
        return Plan(
            sizes=(self.size or 1.0,),
            corrections=_EXACT,
            target=Target.LIMIT,
            sd=(sd,),
            draws=self.draws,
            policy=self.seeds.policy,
            side=LIMIT_SIDES[self.side],
            levels=self.levels,
        )

    def _sign(self) -> str:
        return {"exact": "=", "at most": "≤", "at least": "≥"}[self.side]


@final
@dataclass(frozen=True, kw_only=True)
class MeanPlan(_OneSize):
    """The mean of a random quantity is ``to``, under what is declared of its moments.

    ``sd`` is that of a draw as it comes; with ``variates`` the numbers that are averaged scatter less, by their gain.
    """

    kind_words: ClassVar[KindWords] = WORDS
    hashed_as: ClassVar[str] = "MeanPlan"

    moments: Moment = LIGHT_TAILS
    variates: Variates = NO_VARIATES

    def __post_init__(self) -> None:
        check_light_tails(self.variates, self.moments)
        super().__post_init__()

    @property
    def statement(self) -> str:
        return f"E[{self.of}] {self._sign()} {as_typed(self.to)}"

    @property
    def is_spread_stated(self) -> bool:
        return self.sd != declared(self.moments).spread

    @cached_property
    def core(self) -> Plan:
        return declared(self.moments).planned(self._planned(*self.planned_spreads))

    @property
    def planned_spreads(self) -> tuple[float, ...]:
        return self.variates.planned_sd((self.sd,), (self.draws,))

    @property
    def planned_gain(self) -> VarianceGain | None:
        raw = self.variates.why_raw((self.draws,))
        if not (self.variates.known or raw):
            return None
        (left,) = self.planned_spreads
        return gain_of(self.variates, (self.sd / left) ** 2 if left else None, None, raw)

    def cheapest(self, power: float = ASSURED) -> Self | None:
        if not self.variates.known:
            return super().cheapest(power)
        least = fewest_draws_with(len(self.variates.known))
        found = super(MeanPlan, replace(self, draws=max(self.draws, least))).cheapest(power)
        return None if found is None else replace(found, draws=max(found.draws, least))

    def tested(self, observed: Columns) -> Tested:
        used = self.variates.corrected(observed)
        found = super().tested(used)
        planned = self.planned_gain
        if planned is None:
            return found
        why = self.variates.why_raw(observed.counts)
        gain = None if why else measured_gain(self._interval(observed), self._interval(used))
        return replace(found, gain=gain_of(self.variates, planned.planned, gain, why))

    def scatter(self, observed: Columns) -> tuple[float, ...]:
        return super().scatter(self.variates.corrected(observed))

    def looked_at(self, observed: Columns) -> Looked:
        means = look_at_means(self.mean_tests(observed)) if self.variates.known else NOTHING_LOOKED_AT
        return all_looked([super().looked_at(observed), means])

    def mean_tests(self, observed: Columns, share: float = 1.0) -> tuple[MeanTest, ...]:
        """The tests of the known means of the variates, at a share of their level."""
        return mean_tests(self.variates, observed, observed.values, (self.size or 0.0,), share)

    def of_quantile(self, order: float) -> QuantilePlan:
        """The plan for the quantile of this order in place of the mean."""
        return QuantilePlan(
            to=self.to,
            margin=self.margin,
            order=order,
            draws=self.draws,
            sd=self.sd,
            side=self.side,
            seeds=self.seeds,
            size=self.size,
            levels=self.levels,
            name=self.name,
            reading=self.reading,
            of=self.of,
        )

    def repeated(self) -> Self:
        return replace(self, moments=declared(self.moments).repeated())

    def _interval(self, observed: Columns) -> Interval:
        corrected = bool(self.variates.known) and not observed.variates
        return MeansOfDraws(declared(self.moments), observed, corrected).interval(self.weights)

    def _declared(self) -> Iterable[str]:
        yield f"moments     {declared(self.moments)}"
        yield f"noise       sd {self.sd:g} of one draw"
        yield from self.variates.described()


@final
@dataclass(frozen=True, kw_only=True)
class QuantilePlan(_OneSize):
    """The quantile of this order (the median at one half) is ``to``; nothing is declared of the tails."""

    kind_words: ClassVar[KindWords] = QUANTILES
    hashed_as: ClassVar[str] = "QuantilePlan"

    order: float = 0.5

    @property
    def statement(self) -> str:
        name = "median" if self.order == 0.5 else f"{self.order:g}-quantile"
        return f"{name} of {self.of} {self._sign()} {as_typed(self.to)}"

    @property
    def is_spread_stated(self) -> bool:
        return self.sd != _SD

    @cached_property
    def core(self) -> Plan:
        return self._planned(planned_sd(self.order, self.sd))

    def power(self) -> float:
        """The probability of support for draws of a normal law of the planned sd: of order statistics, by counts."""
        return power_of_quantile(
            self.draws, self.order, self.margin / self.sd, self.levels.support, LIMIT_SIDES[self.side]
        )

    def cheapest(self, power: float = ASSURED) -> Self | None:
        found = super().cheapest(power)
        while found is not None and found.power() < power:  # the normal approximation is a few draws off
            found = replace(found, draws=found.draws + max(1, found.draws // 50))
        return found

    def _interval(self, observed: Columns) -> Interval:
        if observed.batched:
            raise ObservationError(
                "Draws that were averaged in passing were given where a quantile is asked for. It is made of single draws. "
                "Write Stream(logs=False, keep=True)."
            )
        found = quantile_of(observed.values[0], self.order)
        # Every draw moved by at most its error moves every order statistic by at most the largest of them.
        return replace(found, rounding=found.rounding + float(observed.bounds[0].max()))

    def _declared(self) -> Iterable[str]:
        yield "moments     nothing is declared: the interval is made of order statistics"
        yield f"noise       sd {self.sd:g} of one draw, near normal (for the width alone)"


def plan_mean(
    *,
    to: float,
    margin: float,
    draws: int = 32,
    sd: float | None = None,
    moments: Moment = LIGHT_TAILS,
    side: str = "exact",
    levels: Levels = DEFAULT_LEVELS,
    reading: str = Reading.MARGIN,
    variates: Sequence[Variate] = (),
    name: str = "mean",
    of: str = "x",
) -> MeanPlan:
    """Plan to decide that a mean is ``to`` (or at most, or at least that).

    ``variates``: quantities drawn with every value, whose means are known: fewer draws then decide. ``sd`` stays that of a
    value as it is drawn.

    **Raises:** `DesignError` or `StatementError` for what cannot be planned, saying what to write instead.
    """
    return MeanPlan(
        to=_finite(to),
        margin=margin,
        draws=cast("int", draw_counts(draws)),
        sd=cast("float", per_size("sd", planned_spread(moments) if sd is None else sd)),
        moments=moments,
        side=side,
        levels=levels,
        reading=cast("Reading", reading),
        variates=planned(variates),
        name=name,
        of=of,
    )


def plan_quantile(
    *,
    to: float,
    margin: float,
    order: float = 0.5,
    draws: int = 32,
    sd: float = _SD,
    side: str = "exact",
    levels: Levels = DEFAULT_LEVELS,
    reading: str = Reading.MARGIN,
    name: str = "quantile",
    of: str = "x",
) -> QuantilePlan:
    """Plan to decide that a quantile is ``to``; ``sd`` is that of a near normal law, for the width alone.

    **Raises:** `DesignError` or `StatementError` for what cannot be planned, saying what to write instead.
    """
    if not 0 < order < 1:
        raise DesignError(f"order={order!r} is no order of a quantile. Write a number between 0 and 1.")
    draws = cast("int", draw_counts(draws))
    fewest = fewest_for_a_limit(order, min(levels.support, levels.refute / 2))
    if draws < fewest:
        raise DesignError(
            f"{many(draws, 'draw')} leave the quantile of order {order:g} unbounded at these levels. "
            f"Write draws={fewest} at least."
        )
    return QuantilePlan(
        to=_finite(to),
        margin=margin,
        order=order,
        draws=draws,
        sd=cast("float", per_size("sd", sd)),
        side=side,
        levels=levels,
        reading=cast("Reading", reading),
        name=name,
        of=of,
    )


def mean(plan: MeanPlan, values: Any, variates: Mapping[str, Any] | None = None) -> Verdict:
    """Decide the mean on a list of draws.

    ``variates``: the draws of the plan's variates by name, in the order of the values.

    >>> import numpy as np
    >>> from theorax import decide
    >>> square = decide.Variate("x^2", mean=1, gain=10, because="x is standard normal")
    >>> plan = decide.plan_mean(to=3, margin=0.5, draws=256, sd=10, variates=[square])
    >>> x = np.random.default_rng(1).standard_normal(256)
    >>> verdict = decide.mean(plan, x**4, variates={"x^2": x**2})
    >>> round(verdict.cases[0].gain.planned, 3)
    10.0

    **Raises:** `ObservationError` for draws that are not those planned, not finite, or outside the declared range.
    """
    observed = with_draws(plan.variates, _observed(plan, values), variates, lambda draws: _observed(plan, draws).values)
    return _verdict(plan, observed, declared(plan.moments).assumption, *map(declared_line, plan.variates.known))


def quantile(plan: QuantilePlan, values: Any) -> Verdict:
    """Decide the quantile on a list of draws.

    **Raises:** `ObservationError` for draws that are not those planned, or not finite.
    """
    nothing = Assumption("moment", "nothing is assumed of the law of a draw", Standing.PROVED)
    return _verdict(plan, _observed(plan, values), nothing)


def _verdict(plan: MeanPlan | QuantilePlan, observed: Columns, moments: Assumption, *known: Assumption) -> Verdict:
    found = replace(plan.tested(observed), looked=plan.looked_at(observed))
    return one_law_verdict(
        plan,
        found,
        assumptions=(
            moments,
            Assumption("independence", "the draws are independent, of one law", Standing.DECLARED),
            *known,
        ),
        scope="for the law that the draws come from; nothing is extrapolated",
    )


def _observed(plan: MeanPlan | QuantilePlan, values: Any) -> Columns:
    if isinstance(values, Stream):
        if (count := sum(values.counts.values())) != plan.draws or len(values.counts) > 1:
            raise ObservationError(
                f"The stream holds {many(count, 'draw')} of {many(len(values.counts), 'law')}, the plan {plan.draws} of one. "
                "Hand over what was planned."
            )
        return values.columns
    data = float_array(values)
    if data.shape != (plan.draws,):
        raise ObservationError(
            f"Values of shape {data.shape} were given, and the plan has {many(plan.draws, 'draw')}. A sample that "
            "grows until it pleases has no level. Write one list of the planned draws."
        )
    bad = np.flatnonzero(~np.isfinite(data))
    if bad.size:
        raise ObservationError(
            f"Draw {bad[0] + 1} is {data[bad[0]]:g}. No mean can be formed with it. Observe a finite one."
        )
    return Columns((data,))


def _finite(to: float) -> float:
    if not math.isfinite(to):
        raise DesignError(f"to={to!r} is no mean. Write a finite number.")
    return float(to)
