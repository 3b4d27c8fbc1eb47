"""Means under declared moments, and quantiles under none, at one size: nothing is extrapolated."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, cast, final

import numpy as np

from theorax.decide.bias_aware import Weights, solve
from theorax.decide.corrections import Corrections
from theorax.decide.designs import Plan, Policy, Target
from theorax.decide.equivalence import decide
from theorax.decide.interval import Interval
from theorax.decide.limits import LIMIT_SIDES
from theorax.decide.moments import LIGHT_TAILS, Moment, declared_of, interval_of, ledger_of, spread_of
from theorax.decide.one_case import undecided, verdict
from theorax.decide.planning import cheapest
from theorax.decide.plans import NOTICED, Planned, chosen, counted, positive, spread
from theorax.decide.quantiles import fewest_for_a_limit, planned_sd
from theorax.decide.quantiles import quantile as quantile_of
from theorax.decide.samples import Gathered, numbers
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Refusal
from theorax.decide.summaries import Moments, Summary
from theorax.decide.verdict import Assumption, Point, Verdict
from theorax.errors import DesignError, ObservationError

__all__ = ["MeanPlan", "QuantilePlan", "mean", "plan_mean", "plan_quantile", "quantile"]

_EXACT = Corrections(size=0.0, rest=0.0, reason="nothing is extrapolated")


@dataclass(frozen=True, kw_only=True)
class _OneSize(Planned):
    """A plan whose draws all have one law."""

    to: float
    draws: int = 32
    sd: float = 1.0
    side: str = "exact"
    of: str = "x"

    def __post_init__(self) -> None:
        object.__setattr__(self, "margin", positive("margin", self.margin, "the smallest error that would matter"))
        chosen("side", self.side, LIMIT_SIDES)
        self.core  # noqa: B018  (what cannot be planned is told now)

    @property
    @abstractmethod
    def core(self) -> Plan:
        """What the width depends on."""

    @property
    def weights(self) -> Weights:
        """The one weight, which is one."""
        return solve(self.core)

    @property
    def bias(self) -> float:
        return 0.0

    @property
    def half_width(self) -> float:
        return self.weights.half_width

    @property
    def noticeable(self) -> float:
        return self.weights.mde(NOTICED)

    @property
    def cost(self) -> float:
        return float(self.draws)

    @property
    def design(self) -> str:
        return f"{self.draws} draws"

    def power(self) -> float:
        """The probability of support when the claim holds exactly."""
        return self.weights.power(self.margin)

    def cheapest(self, power: float = 0.8) -> Self | None:
        found = cheapest(self.core, self.margin, power, doublings=0)
        return None if found is None else replace(self, draws=max(found.weights.plan.planned_draws))

    def _planned(self, sd: float) -> Plan:
        side = LIMIT_SIDES[self.side]
        return Plan((1.0,), _EXACT, Target.LIMIT, sd, self.draws, Policy.INDEPENDENT, side=side, levels=self.levels)

    def _sign(self) -> str:
        return {"exact": "=", "at most": "≤", "at least": "≥"}[self.side]


@final
@dataclass(frozen=True, kw_only=True)
class MeanPlan(_OneSize):
    """The mean of a random quantity is ``to``, under what is declared of its moments."""

    moments: Moment = LIGHT_TAILS

    @property
    def statement(self) -> str:
        return f"E[{self.of}] {self._sign()} {self.to:g}"

    @cached_property
    def core(self) -> Plan:
        return declared_of(self.moments).planned(self._planned(self.sd))

    def _declared(self) -> Iterable[str]:
        yield f"moments     {ledger_of(self.moments).text}"
        yield f"noise       sd {self.sd:g} of one draw"


@final
@dataclass(frozen=True, kw_only=True)
class QuantilePlan(_OneSize):
    """The quantile of this order (the median at one half) is ``to``; nothing is declared of the tails."""

    order: float = 0.5

    @property
    def statement(self) -> str:
        name = "median" if self.order == 0.5 else f"{self.order:g}-quantile"
        return f"{name} of {self.of} {self._sign()} {self.to:g}"

    @cached_property
    def core(self) -> Plan:
        if not 0 < self.order < 1:
            raise DesignError(f"order={self.order!r} is no order of a quantile. Write a number between 0 and 1.")
        fewest = fewest_for_a_limit(self.order, min(self.levels.support, self.levels.refute / 2))
        if self.draws < fewest:
            raise DesignError(
                f"{self.draws} draws leave the quantile of order {self.order:g} unbounded at these levels. "
                f"Write draws={fewest} at least."
            )
        return self._planned(planned_sd(self.order, self.sd))

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
    name: str = "mean",
    of: str = "x",
) -> MeanPlan:
    """Plan to decide that a mean is ``to`` (or at most, or at least that).

    **Raises:** `DesignError` or `StatementError` for what cannot be planned, saying what to write instead.
    """
    return MeanPlan(
        to=_finite(to),
        margin=margin,
        draws=cast("int", counted(draws)),
        sd=cast("float", spread("sd", spread_of(moments) if sd is None else sd)),
        moments=moments,
        side=side,
        levels=levels,
        name=name,
        of=of,
    )


def plan_quantile(
    *,
    to: float,
    margin: float,
    order: float = 0.5,
    draws: int = 32,
    sd: float = 1.0,
    side: str = "exact",
    levels: Levels = DEFAULT_LEVELS,
    name: str = "quantile",
    of: str = "x",
) -> QuantilePlan:
    """Plan to decide that a quantile is ``to``; ``sd`` is that of a near normal law, for the width alone.

    **Raises:** `DesignError` or `StatementError` for what cannot be planned, saying what to write instead.
    """
    return QuantilePlan(
        to=_finite(to),
        margin=margin,
        order=order,
        draws=cast("int", counted(draws)),
        sd=cast("float", spread("sd", sd)),
        side=side,
        levels=levels,
        name=name,
        of=of,
    )


def mean(plan: MeanPlan, values: Any) -> Verdict:
    """Decide the mean on a list of draws.

    **Raises:** `ObservationError` for draws that are not those planned, not finite, or outside the declared range.
    """
    gathered = values if isinstance(values, Gathered) else _gathered(plan, values)

    def made() -> Interval:
        return interval_of(plan.moments, plan.core, gathered, np.ones(1), 0.0)

    return _decided(plan, made, gathered.points, ledger_of(plan.moments), "mean")


def quantile(plan: QuantilePlan, values: Any) -> Verdict:
    """Decide the quantile on a list of draws.

    **Raises:** `ObservationError` for draws that are not those planned, or not finite.
    """
    gathered = values if isinstance(values, Gathered) else _gathered(plan, values)
    nothing = Assumption("moment", "nothing is assumed of the law of a draw", "proved")
    return _decided(plan, lambda: quantile_of(gathered.columns[0], plan.order), gathered.points, nothing, "quantile")


def _decided(plan: _OneSize, made: Any, points: tuple[Point, ...], moments: Assumption, kind: str) -> Verdict:
    side, detail = LIMIT_SIDES[plan.side], ""
    try:
        decision = decide(made(), plan.to, plan.margin, side, plan.levels)
    except Refusal as refusal:
        decision = Decision.undecided(refusal.reason, plan.to, plan.margin, side, plan.levels)
        detail = undecided(refusal)
    return verdict(
        plan,
        decision,
        kind=kind,
        predicted=plan.to,
        points=points,
        unseen=(f"a {kind} that differs from the claimed one by less than {plan.noticeable:.2g}",),
        assumptions=(moments, Assumption("independence", "the draws are independent, of one law", "declared")),
        scope="for the law that the draws come from; nothing is extrapolated",
        detail=detail,
    )


def _gathered(plan: _OneSize, values: Any) -> Gathered:
    data = numbers(values)
    if data.shape != (plan.draws,):
        raise ObservationError(
            f"Values of shape {data.shape} were given, {plan.draws} draws were planned. A sample that grows until it "
            "pleases has no level. Write one list of the planned draws."
        )
    bad = np.flatnonzero(~np.isfinite(data))
    if bad.size:
        raise ObservationError(
            f"Draw {bad[0] + 1} is {data[bad[0]]:g}. No mean can be formed with it. Observe a finite one."
        )
    return one_size(data)


def one_size(data: np.ndarray) -> Gathered:
    """Draws of one law, gathered."""
    part = Moments.of(data)
    deviation = math.sqrt(part.squares / (part.count - 1) / part.count) if part.count > 1 else None
    return Gathered(Summary.of_moments([part]), (part,), (Point(0.0, part.mean, deviation, part.count),), (data,))


def _finite(to: float) -> float:
    if not math.isfinite(to):
        raise DesignError(f"to={to!r} is no mean. Write a finite number.")
    return float(to)
