r"""Draws that stop when they have decided: looks at declared parts of the draws, the levels spent over them.

At look j the draws so far are decided as a design of their own, with weights solved in advance and levels $\alpha_j$,
$\sum_j \alpha_j = \alpha$, for either null. By the union bound a true claim is refuted at some look with probability at
most $\alpha_R$, a false one supported with at most $\alpha_S$, whatever the dependence of the looks and of the two
nulls. The first look that decides ends the draws.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar, final

import numpy as np

from theorax.decide.error_budget import REFUTATIONS, SUPPORTS
from theorax.decide.limits import LimitPlan, limit
from theorax.decide.means import MeanPlan, mean
from theorax.decide.plans import Planned, Seeds, SweepPlan
from theorax.decide.rates import RatePlan, rate
from theorax.decide.samples import float_array
from theorax.decide.status import Decision, Levels, Status
from theorax.decide.verdict import LookTaken, Verdict
from theorax.errors import DesignError, ObservationError
from theorax.names import many

__all__ = ["DEFAULT_SCHEDULE", "ENDING", "Look", "LooksPlan", "Schedule", "at_look", "ends", "looks", "plan_looks"]

LookedAt = RatePlan | LimitPlan | MeanPlan
P = TypeVar("P", bound=Planned)


@dataclass(frozen=True)
class Look:
    """One look: its number of draws, and its share of the levels of the whole."""

    draws: int
    share: float

    def of(self, levels: Levels) -> Levels:
        """The levels that this look spends."""
        return levels.part(self.share)


@dataclass(frozen=True)
class Schedule:
    """At which fractions of the draws is looked, and which share of the levels each look spends.

    **Raises:** `DesignError` unless the fractions grow to one and the shares are positive and sum to one.
    """

    fractions: tuple[float, ...] = (0.25, 0.5, 1.0)
    shares: tuple[float, ...] = (0.15, 0.25, 0.6)

    def __post_init__(self) -> None:
        grows = bool(self.fractions) and all(a < b for a, b in pairwise((0.0, *self.fractions)))
        # Shares that are written in decimals sum to one up to a unit in the last place each.
        whole = abs(math.fsum(self.shares) - 1) <= len(self.shares) * 2.0**-52
        fits = len(self.shares) == len(self.fractions) and min(self.shares, default=0.0) > 0
        if not (grows and whole and fits and self.fractions[-1] == 1):
            raise DesignError(
                f"Looks at {self.fractions} of the draws with shares {self.shares} of the level were planned. The last "
                "look sees all draws, and the shares spend the whole level, each a part of it. Write fractions that "
                "grow to 1 and as many positive shares that sum to 1."
            )

    def looks(self, draws: int, serves: Callable[[Look], bool] = lambda look: look.draws >= 2) -> tuple[Look, ...]:
        """The looks at so many draws; one before the last that does not serve gives its share to the next."""
        found: list[Look] = []
        saved = 0.0
        for fraction, share in zip(self.fractions, self.shares, strict=True):
            saved += share
            # Shares that are written in decimals sum to one up to rounding.
            look = Look(draws, 1.0 if not found else saved) if fraction == 1 else Look(round(fraction * draws), saved)
            if fraction == 1 or serves(look):
                found.append(look)
                saved = 0.0
        return tuple(found)


DEFAULT_SCHEDULE = Schedule()

MEMBERS = 500
ENDING = Levels(SUPPORTS / MEMBERS, REFUTATIONS / MEMBERS)
"""P-values at which a claim ends its draws early: small enough for Holm among so many claims of one run.

A look that rejects at the claim's own level alone would leave a p-value near that level, and the statement about a run
could not count on it.
"""


def ends(decision: Decision) -> bool:
    """True if a decision, its p-values in units of the whole level, may end the draws before all are made."""
    if decision.status is Status.SUPPORTED:
        return decision.p_support <= ENDING.support
    return decision.status is Status.REFUTED and decision.p_refute <= ENDING.refute


def at_look(plan: P, look: Look, of: int) -> P:
    """The plan of a look that sees ``look.draws`` of every ``of`` draws."""
    draws: Any = vars(plan)["draws"]
    if isinstance(draws, tuple):
        part: Any = tuple(max(2, math.ceil(m * look.draws / of)) for m in draws)
    else:
        part = draws * look.draws // of
    changed: dict[str, Any] = {"draws": part, "levels": look.of(plan.levels)}
    return replace(plan, **changed)


@final
@dataclass(frozen=True)
class LooksPlan:
    """A plan and its looks: at each the draws so far are decided as a plan of their own, at a share of the levels."""

    plan: LookedAt
    schedule: Schedule = field(default_factory=lambda: DEFAULT_SCHEDULE)

    @cached_property
    def stages(self) -> tuple[LookedAt, ...]:
        """The plan of every look."""
        most = _most(self.plan.draws)
        return tuple(at_look(self.plan, look, most) for look in self.schedule.looks(most))

    @property
    def hash(self) -> str:
        """A digest of everything that was fixed before the data."""
        return hashlib.sha256("\n".join(stage.hash for stage in self.stages).encode()).hexdigest()[:16]

    def power(self) -> float:
        """The probability of support at the last look when the claim holds exactly; earlier looks only add to it."""
        return self.stages[-1].power()

    @property
    def decides(self) -> bool:
        """True if the last look supports a true claim with probability one half; earlier ones only save draws."""
        return self.stages[-1].decides

    def __str__(self) -> str:
        told = ", ".join(f"{_most(stage.draws)} at level {stage.levels.support:.2g}" for stage in self.stages)
        return f"{self.plan}\n  looks       after {told}\n  looks' plan {self.hash}"


def plan_looks(
    plan: LookedAt,
    fractions: Sequence[float] = DEFAULT_SCHEDULE.fractions,
    shares: Sequence[float] = DEFAULT_SCHEDULE.shares,
) -> LooksPlan:
    """Plan to look at these fractions of the planned draws, spending these shares of the levels.

    The levels of all looks add up to those of the plan (union bound), so that stopping early costs no error, only some
    power; a plan with about a sixth more draws has the power of one look.

    **Raises:** `DesignError` for what is no plan of draws, or fractions and shares that spend another level.
    """
    if not isinstance(plan, LookedAt):
        raise DesignError(
            f"plan_looks was given a {type(plan).__name__}. Looks are taken at draws of a rate, a limit or a mean. "
            "Write plan_rate, plan_limit or plan_mean. For a probability fix the number of draws: plan_probability(draws=...)."
        )
    if plan.variates.known:
        raise DesignError(
            f"Looks were planned at draws with variates ({', '.join(plan.variates.names)}). A look is handed the values "
            "alone. Decide all draws at once, or leave the variates out."
        )
    if plan.seeds is Seeds.NONE:
        raise DesignError(
            "Looks were planned for a sequence without randomness. Its values are all there at once. "
            "Decide it as it is."
        )
    return LooksPlan(plan, Schedule(tuple(map(float, fractions)), tuple(map(float, shares))))


def looks(plan: LooksPlan, draw: Callable[[int, int], Any]) -> Verdict:
    """Draw up to the first look that decides, and return its verdict.

    ``draw(first, count)`` returns draws ``first`` .. ``first + count - 1``: a table ``count x sizes``, one array per size,
    or for a mean ``count`` numbers. The p-values are those of all looks taken, in units of their shares of the level.

    **Raises:** `ObservationError` where ``draw`` returns another shape than asked for.
    """
    whole, stages = plan.plan.levels, plan.stages
    if not isinstance(plan.plan, MeanPlan) and isinstance(plan.plan.draws, tuple):
        raise DesignError(
            "Looks need equally many draws at every size: draw(first, count) is asked for the same draws of each. "
            "Plan one number of draws."
        )
    columns: list[np.ndarray] = []
    p_support = p_refute = 1.0
    for number, stage in enumerate(stages, start=1):
        seen = len(columns[0]) if columns else 0
        count = _most(stage.draws) - seen
        fresh = _columns(plan.plan, draw(seen, count), count)
        columns = [np.concatenate(pair) for pair in zip(columns, fresh, strict=True)] if columns else fresh
        found = _decided(stage, columns)
        if found.p_support is not None and found.p_refute is not None:
            p_support = min(p_support, _charged(found.p_support, whole.support, stage.levels.support))
            p_refute = min(p_refute, _charged(found.p_refute, whole.refute, stage.levels.refute))
        if found.status in (Status.SUPPORTED, Status.REFUTED) or number == len(stages):
            return _stopped(plan, found, number, whole, p_support, p_refute)
    raise AssertionError("the last look always returns")


def _charged(p: float, whole: float, share: float) -> float:
    """A p-value in units of its look's share of the level: at most the whole level exactly if the look rejects."""
    return min(1.0, p * whole / share)


def _most(draws: int | Sequence[int]) -> int:
    return draws if isinstance(draws, int) else max(draws)


def _columns(plan: LookedAt, values: Any, count: int) -> list[np.ndarray]:
    sizes = len(plan.sizes) if isinstance(plan, SweepPlan) else 1
    if isinstance(values, np.ndarray) and values.ndim == 2:
        columns = list(float_array(values).T)
    elif sizes == 1:
        columns = [float_array(values).ravel()]
    else:
        columns = [float_array(column) for column in values]
    if len(columns) != sizes or any(len(column) != count for column in columns):
        shape = np.shape(values) if isinstance(values, np.ndarray) else tuple(map(len, columns))
        raise ObservationError(
            f"draw returned {shape} for {many(count, 'draw')} at {many(sizes, 'size')}. A look "
            "decides all draws so far, as planned. Return count x sizes, or one array of count numbers per size."
        )
    return columns


def _decided(stage: LookedAt, columns: list[np.ndarray]) -> Verdict:
    match stage:
        case RatePlan():
            return rate(stage, columns)
        case LimitPlan():
            return limit(stage, columns)
    return mean(stage, columns[0])


def _stopped(plan: LooksPlan, found: Verdict, number: int, whole: Levels, p_support: float, p_refute: float) -> Verdict:
    drawn, planned = _most(plan.stages[number - 1].draws), _most(plan.stages[-1].draws)
    return replace(
        found,
        look=LookTaken(number, len(plan.stages), drawn, planned),
        level=whole.of(found.status),
        p_support=p_support,
        p_refute=p_refute,
        design_hash=plan.hash,
    )
