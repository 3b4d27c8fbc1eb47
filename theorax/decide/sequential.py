r"""Draws that stop when they have decided: looks at declared parts of the draws, the levels spent over them.

At look j the draws so far are decided as a design of their own, with weights solved in advance and levels $\alpha_j$,
$\sum_j \alpha_j = \alpha$, for either null. By the union bound a true claim is refuted at some look with probability at
most $\alpha_R$, a false one supported with at most $\alpha_S$, whatever the dependence of the looks and of the two
nulls. The first look that decides ends the draws.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

from theorax.decide.bias_aware import Weights, solve
from theorax.decide.designs import Plan, Policy
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Status
from theorax.errors import DesignError

__all__ = ["DEFAULT_SCHEDULE", "Look", "Looks", "Schedule", "Stopped", "charged", "plan_looks", "sequentially"]


@dataclass(frozen=True)
class Look:
    """How many draws are looked at together, at which levels."""

    draws: int
    levels: Levels


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

    def looks(self, draws: int, levels: Levels = DEFAULT_LEVELS, least: int = 2) -> tuple[Look, ...]:
        """The looks at so many draws; one that would see fewer than ``least`` gives its share to the next."""
        found, saved = [], 0.0
        for fraction, share in zip(self.fractions, self.shares, strict=True):
            count = draws if fraction == 1 else round(fraction * draws)
            saved += share
            if count < least and fraction < 1:
                continue
            found.append(Look(count, Levels(saved * levels.support, saved * levels.refute)))
            saved = 0.0
        return tuple(found)


DEFAULT_SCHEDULE = Schedule()


@dataclass(frozen=True)
class Looks:
    """A plan with its looks: the weights of every look, solved before the first draw."""

    plan: Plan
    looks: tuple[Look, ...]
    weights: tuple[Weights, ...]

    @property
    def hash(self) -> str:
        """A digest of everything that was fixed in advance."""
        parts = (self.plan, self.looks, tuple(weights.values for weights in self.weights))
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    def decides(self, margin: float, power: float = 0.0) -> bool:
        """Whether the last look can decide at its own level; earlier looks only save draws."""
        return self.weights[-1].decides(margin, power)


@dataclass(frozen=True)
class Stopped:
    """The decision, at the levels of the whole, the look at which it fell, and the draws it took."""

    decision: Decision
    look: int
    draws: int


def plan_looks(plan: Plan, schedule: Schedule = DEFAULT_SCHEDULE) -> Looks:
    """Solve the weights of every look of this plan: the same sizes and class, the look's own draws and levels.

    **Raises:** `DesignError` for a plan without randomness, which has nothing to stop.
    """
    if plan.policy is Policy.DETERMINISTIC:
        raise DesignError(
            "Looks were planned for a sequence without randomness. Its values are all there at once. "
            "Decide it as it is."
        )
    draws = plan.planned_draws
    looks = schedule.looks(max(draws), plan.levels)
    weights = []
    for look in looks:
        part = tuple(max(2, math.ceil(count * look.draws / max(draws))) for count in draws)
        weights.append(solve(replace(plan, draws=part, levels=look.levels)))
    return Looks(plan, looks, tuple(weights))


def charged(p: float, whole: float, share: float) -> float:
    """A p-value in units of its look's share of the level: at most the whole level exactly if the look rejects."""
    return min(1.0, p * whole / share)


def sequentially(looks: tuple[Look, ...] | Looks, decide_at: Callable[[int], Decision]) -> Stopped:
    """Ask look after look until one decides.

    ``decide_at(j)`` draws up to look j and decides all draws so far, at the levels of that look (with its weights). The
    p-values are those of the looks so far, each in units of its share of the level: $\\min_j p_j \\alpha/\\alpha_j$, which is
    at most $\\alpha$ exactly if some look rejects.

    **Raises:** `DesignError` where a look was decided at levels other than its own.
    """
    stages = looks.looks if isinstance(looks, Looks) else looks
    if not stages:
        raise DesignError("No look was planned. Nothing would be decided. Write at least one fraction of the draws.")
    whole = Levels(math.fsum(s.levels.support for s in stages), math.fsum(s.levels.refute for s in stages))
    p_support = p_refute = 1.0
    for number, look in enumerate(stages):
        found = decide_at(number)
        # Four units in the last place: levels may have been divided among cases and multiplied again.
        if found.levels.support > look.levels.support * (1 + 2.0**-50) or found.levels.refute > look.levels.refute * (
            1 + 2.0**-50
        ):
            raise DesignError(
                f"Look {number + 1} was decided at the levels {found.levels}, and its own are {look.levels}. The looks "
                "together would err more often than the claim allows. Decide each look at its own levels."
            )
        p_support = min(p_support, charged(found.p_support, whole.support, look.levels.support))
        p_refute = min(p_refute, charged(found.p_refute, whole.refute, look.levels.refute))
        if found.status is not Status.INCONCLUSIVE or number == len(stages) - 1:
            return Stopped(replace(found, p_support=p_support, p_refute=p_refute, levels=whole), number, look.draws)
    raise AssertionError("the last look always returns")
