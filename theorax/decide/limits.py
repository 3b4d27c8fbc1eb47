"""Limits of means: of draws under declared moments, or of a sequence without randomness."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Self, cast, final

from theorax.decide.bias_aware import Weights
from theorax.decide.control_variates import Variate, declared_line, planned, with_draws
from theorax.decide.corrections import Corrections
from theorax.decide.designs import Plan, Target
from theorax.decide.draw_guards import scatter
from theorax.decide.kinds import DecidedQuantity, KindWords
from theorax.decide.moments import (
    LIGHT_TAILS,
    MeansOfDraws,
    Moment,
    check_light_tails,
    declared,
    planned_spread,
)
from theorax.decide.own_verdicts import sweep_assumptions, sweep_verdict
from theorax.decide.plans import Seeds, Tested, chosen, draw_counts, per_size, sweep_sizes
from theorax.decide.samples import Columns, by_size, mean_point
from theorax.decide.status import DEFAULT_LEVELS, Levels, Reading, Side
from theorax.decide.streams import Stream
from theorax.decide.sweep_decisions import WeightedPlan
from theorax.decide.verdict import Verdict
from theorax.decide.wide_margins import of_zero
from theorax.errors import DesignError
from theorax.text.numbers import as_typed

__all__ = ["LIMIT_SIDES", "LimitPlan", "limit", "plan_limit"]

WORDS = KindWords(
    "limit",
    DecidedQuantity("limit", verb="extrapolated", is_extrapolated=True, has_margin=True),
    deviation="a limit off by {}",
    spread_of=" of the claimed value",
)
"""Words of this kind in every report."""

LIMIT_SIDES = {"exact": Side.EQUAL, "at most": Side.AT_MOST, "at least": Side.AT_LEAST}


@final
@dataclass(frozen=True, kw_only=True)
class LimitPlan(WeightedPlan):
    """The limit of a mean as the size grows.

    ``scale``: what one unit of the class of corrections stands for; the claimed limit (1 for a limit of 0) if not given.
    """

    kind_words: ClassVar[KindWords] = WORDS
    hashed_as: ClassVar[str] = "LimitPlan"

    to: float
    side: str = "exact"
    moments: Moment = LIGHT_TAILS
    scale: float | None = None

    def __post_init__(self) -> None:
        chosen("side", self.side, LIMIT_SIDES)
        check_light_tails(self.variates, self.moments)
        super().__post_init__()

    @property
    def unit(self) -> str:
        if self.to and self._scale == abs(self.to):
            return ", in relative terms,"
        return f", in units of {self._scale:g}," if self._scale != 1 else ""

    @property
    def statement(self) -> str:
        return _tends(f"E[{self.of}]" if self.random else self.of, self.letter, self.to, self.side)

    @property
    def claimed(self) -> float:
        return self.to

    @cached_property
    def core(self) -> Plan:
        plan = Plan(
            sizes=self.sizes,
            corrections=_in_units(self.corrections.anchored(self.sizes[0], in_limit=True), self._scale),
            target=Target.LIMIT,
            sd=self.planned_spreads,
            draws=self.draws,
            policy=self.policy,
            errors=self.errors,
            side=LIMIT_SIDES[self.side],
            levels=self.levels,
        )
        return declared(self.moments).planned(plan)

    def repeated(self) -> Self:
        return replace(self, moments=declared(self.moments).repeated())

    def tested(self, observed: Columns) -> Tested:
        """Decide the limit on what was observed at every size.

        **Raises:** `ObservationError` for values outside the declared range.
        """
        used, moments = self.variates.corrected(observed), declared(self.moments)
        points = observed.points or tuple(map(mean_point, self.sizes, used.values))
        means = MeansOfDraws(moments, used, corrected=used is not observed)
        found = self._tested(lambda: means, points)
        unseen = (*found.unseen, *of_zero(WORDS.quantity.name, self.to, self.margin, points))
        gain = self._gain(MeansOfDraws(moments, observed), means, self.variates.why_raw(observed.counts))
        return replace(found, unseen=unseen, gain=gain)

    @property
    def is_spread_stated(self) -> bool:
        return self.sd != declared(self.moments).spread

    def scatter(self, observed: Columns) -> tuple[float, ...]:
        return scatter(observed.points or tuple(map(mean_point, self.sizes, self.variates.corrected(observed).values)))

    def _unseen(self, weights: Weights) -> Iterable[str]:
        return ()

    @property
    def _scale(self) -> float:
        return (abs(self.to) or 1.0) if self.scale is None else self.scale


def plan_limit(
    sizes: Iterable[float],
    *,
    to: float,
    margin: float,
    draws: int | Sequence[int] = 32,
    sd: float | Sequence[float] | None = None,
    seeds: str = "undeclared",
    side: str = "exact",
    corrections: Corrections | None = None,
    moments: Moment = LIGHT_TAILS,
    levels: Levels = DEFAULT_LEVELS,
    reading: str = Reading.MARGIN,
    variates: Sequence[Variate] = (),
    name: str = "limit",
    letter: str = "n",
    of: str = "x",
) -> LimitPlan:
    """Plan to decide that the mean of a random quantity tends to ``to``.

    ``sd`` is that of one draw; a declared range or variance bounds it where it is not given. ``moments``: "light
    tails", `Bounded` or `BoundedVariance`. The class of corrections is in units of ``to``, of 1 where that is zero.
    ``variates``: quantities drawn with every value, whose means are known: fewer draws then decide. ``sd`` stays that of a
    value as it is drawn.

    **Raises:** `DesignError` or `StatementError` for what cannot be planned, saying what to write instead.
    """
    if not math.isfinite(to):
        raise DesignError(f"to={to!r} is no limit. Write a finite number; growth without bound is a rate.")
    sizes = sweep_sizes(sizes)
    return LimitPlan(
        sizes=sizes,
        to=float(to),
        margin=margin,
        draws=draw_counts(draws),
        sd=per_size("sd", planned_spread(moments) if sd is None else sd),
        seeds=cast("Seeds", seeds),
        side=side,
        corrections=Corrections() if corrections is None else corrections,
        moments=moments,
        levels=levels,
        reading=cast("Reading", reading),
        variates=planned(variates, len(sizes)),
        name=name,
        letter=letter,
        of=of,
    )


def limit(plan: LimitPlan, values: Any, variates: Mapping[str, Any] | None = None) -> Verdict:
    """Decide the limit on draws: a table ``draws x sizes``, one array per size, or a `Stream`.

    ``variates``: the draws of the plan's variates by name, in the shape of the values and in their order.

    **Raises:** `ObservationError` for draws that are not those planned, not finite, or outside the declared range.
    """
    observed = values.for_plan(plan) if isinstance(values, Stream) else Columns(by_size(plan, values))
    return limit_verdict(plan, with_draws(plan.variates, observed, variates, partial(by_size, plan)))


def limit_verdict(plan: LimitPlan, observed: Columns) -> Verdict:
    """The verdict on the limit of what was observed."""
    moments = (declared(plan.moments).assumption,) if plan.random else ()
    found = replace(plan.tested(observed), looked=plan.looked_at(observed))
    return sweep_verdict(
        plan,
        found,
        assumptions=sweep_assumptions(plan, *moments, *map(declared_line, plan.variates.known)),
    )


def _in_units(corrections: Corrections, unit: float) -> Corrections:
    """The declared class in units of y: a share of the limit becomes a number."""
    if unit == 1:
        return corrections
    return replace(
        corrections,
        size=corrections.size * unit,
        log=corrections.log * unit,
        loglog=corrections.loglog * unit,
        rest=corrections.remainder * unit,
        order=corrections.remainder_order,
        reason=corrections.reason or "the default class, in units of the limit",
    )


def _tends(of: str, letter: str, to: float, side: str) -> str:
    """A limit as Unicode mathematics.

    >>> _tends("E[x]", "n", 0.5, "at most")
    'lim E[x] ≤ 0.5  as n → ∞'
    """
    if side == "exact":
        return f"{of} → {as_typed(to)}  as {letter} → ∞"
    return f"lim {of} {'≤' if side == 'at most' else '≥'} {as_typed(to)}  as {letter} → ∞"
