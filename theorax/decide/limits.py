"""Limits of means of own numbers, under declared moments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast, final

import numpy as np

from theorax.decide.bias_aware import Weights
from theorax.decide.corrections import Corrections
from theorax.decide.designs import Plan, Target
from theorax.decide.equivalence import decide, is_robust
from theorax.decide.interval import Interval
from theorax.decide.moments import LIGHT_TAILS, Moment, declared_of, interval_of, ledger_of, spread_of
from theorax.decide.one_case import ledger, sweep_verdict, undecided
from theorax.decide.planning import alarmed
from theorax.decide.plans import Seeds, SweepPlan, chosen, counted, spread, sweep
from theorax.decide.samples import Gathered, by_size, gather
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Refusal, Side
from theorax.decide.streams import Stream
from theorax.decide.verdict import Verdict
from theorax.errors import DesignError

__all__ = ["LIMIT_SIDES", "LimitPlan", "in_units", "limit", "plan_limit", "tends"]

LIMIT_SIDES = {"exact": Side.EQUAL, "at most": Side.AT_MOST, "at least": Side.AT_LEAST}


@final
@dataclass(frozen=True, kw_only=True)
class LimitPlan(SweepPlan):
    """The limit of a mean as the size grows; the class of corrections is in units of the claimed limit (of 1 for 0)."""

    to: float
    side: str = "exact"
    moments: Moment = LIGHT_TAILS

    def __post_init__(self) -> None:
        chosen("side", self.side, LIMIT_SIDES)
        super().__post_init__()

    @property
    def unit(self) -> str:
        return f" times {abs(self.to):g}" if self.to else ""

    @property
    def statement(self) -> str:
        return tends(f"E[{self.of}]", self.letter, self.to, self.side)

    @cached_property
    def core(self) -> Plan:
        plan = Plan(
            sizes=self.sizes,
            corrections=in_units(self.corrections, self.to, self.sizes[0]),
            target=Target.LIMIT,
            sd=self.sd,
            draws=self.draws,
            policy=self.seeds.policy,
            side=LIMIT_SIDES[self.side],
            levels=self.levels,
        )
        return declared_of(self.moments).planned(plan)


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
    name: str = "limit",
    letter: str = "n",
    of: str = "x",
) -> LimitPlan:
    """Plan to decide that the mean of a random quantity tends to ``to``.

    ``sd`` is that of one draw; a declared range or variance bounds it where it is not given. ``moments``: "light
    tails", `Bounded` or `BoundedVariance`. The class of corrections is in units of ``to``, of 1 where that is zero.

    **Raises:** `DesignError` or `StatementError` for what cannot be planned, saying what to write instead.
    """
    if not math.isfinite(to):
        raise DesignError(f"to={to!r} is no limit. Write a finite number; growth without bound is a rate.")
    return LimitPlan(
        sizes=sweep(sizes),
        to=float(to),
        margin=margin,
        draws=counted(draws),
        sd=spread("sd", spread_of(moments) if sd is None else sd),
        seeds=cast("Seeds", seeds),
        side=side,
        corrections=Corrections() if corrections is None else corrections,
        moments=moments,
        levels=levels,
        name=name,
        letter=letter,
        of=of,
    )


def limit(plan: LimitPlan, values: Any) -> Verdict:
    """Decide the limit on draws: a table ``draws x sizes``, one array per size, or a `Stream`.

    **Raises:** `ObservationError` for draws that are not those planned, not finite, or outside the declared range.
    """
    if isinstance(values, Stream):
        values = values.for_plan(plan)
    gathered = values if isinstance(values, Gathered) else gather(plan, by_size(plan, values))
    side, detail = LIMIT_SIDES[plan.side], ""

    def estimate(k: np.ndarray, bias: float) -> Interval:
        return interval_of(plan.moments, plan.core, gathered, k, bias)

    def weighted(weights: Weights) -> Interval:
        return estimate(weights.vector, weights.bias.total)

    try:
        decision = decide(weighted(plan.weights), plan.to, plan.margin, side, plan.levels)
        decision = replace(decision, robust=is_robust(decision, plan.core, weighted))
        decision, detail = alarmed(decision, plan.core, estimate)
    except Refusal as refusal:
        decision = Decision.undecided(refusal.reason, plan.to, plan.margin, side, plan.levels)
        detail = undecided(refusal)
    unseen = (
        f"a limit that differs from the claimed one by less than {plan.noticeable:.2g}",
        "corrections that are larger than declared, or fade more slowly",
    )
    return sweep_verdict(
        plan,
        decision,
        kind="limit",
        predicted=plan.to,
        points=gathered.points,
        unseen=unseen,
        assumptions=ledger(plan, ledger_of(plan.moments)),
        detail=detail,
    )


def in_units(corrections: Corrections, to: float, smallest: float) -> Corrections:
    """The declared class in units of y: a share of the limit becomes a number."""
    unit = abs(to) or 1.0
    anchored = corrections.anchored(smallest)
    if unit == 1:
        return anchored
    return replace(
        anchored,
        size=anchored.size * unit,
        rest=anchored.remainder * unit,
        order=anchored.remainder_order,
        reason=anchored.reason or "the default class, in units of the limit",
    )


def tends(of: str, letter: str, to: float, side: str) -> str:
    """A limit as Unicode mathematics.

    >>> tends("E[x]", "n", 0.5, "at most")
    'lim E[x] ≤ 0.5  as n → ∞'
    """
    if side == "exact":
        return f"{of} → {to:g}  as {letter} → ∞"
    return f"lim {of} {'≤' if side == 'at most' else '≥'} {to:g}  as {letter} → ∞"
