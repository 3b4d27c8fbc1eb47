"""Probabilities of events: a fixed sample, a monitor that may be asked after every draw, and bounds in every row."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Self, cast, final

import numpy as np

from theorax.decide.binomial import Monitor, fewest_draws, outcomes_of
from theorax.decide.binomial import ProbabilityPlan as Core
from theorax.decide.one_case import verdict
from theorax.decide.plans import NOTICED, Planned, counted, positive
from theorax.decide.samples import numbers
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Status
from theorax.decide.verdict import Assumption, Point, Verdict
from theorax.errors import ObservationError

__all__ = [
    "InequalityPlan",
    "ProbabilityPlan",
    "Watch",
    "inequality",
    "monitor",
    "plan_inequality",
    "plan_probability",
    "probability",
]

_INDEPENDENT = Assumption("independence", "the draws are independent, of one law, and none was left out", "declared")


@dataclass(frozen=True, kw_only=True)
class _Counted(Planned):
    """A plan that counts outcomes."""

    draws: int
    of: str = "event"

    def __post_init__(self) -> None:
        object.__setattr__(self, "margin", positive("margin", self.margin, "the smallest shortfall that would matter"))
        object.__setattr__(self, "draws", counted(self.draws))
        self.core  # noqa: B018  (what cannot be planned is told now)

    @property
    @abstractmethod
    def core(self) -> Core:
        """What the counts are held against."""

    @property
    def bias(self) -> float:
        return 0.0

    @property
    def half_width(self) -> float:
        return self.core.half_width

    @property
    def noticeable(self) -> float:
        return self.core.noticeable(NOTICED)

    @property
    def cost(self) -> float:
        return float(self.draws)

    def power(self) -> float:
        """The probability of support if the claim holds with no slack."""
        return self.core.power()

    @property
    def decides(self) -> bool:
        # Counts are whole: the interval may have the width and yet no count reach the boundary.
        return self.core.decides()

    def cheapest(self, power: float = 0.8) -> Self | None:
        found = _needed(self.core.at_least, self.margin, self.levels, power)
        return None if found is None else replace(self, draws=found)

    @property
    def design(self) -> str:
        return f"{self.draws} draws"

    def _declared(self) -> Iterable[str]:
        yield f"levels      {self.levels.support:g} of wrong support, {self.levels.refute:g} of wrong refutation"


@final
@dataclass(frozen=True, kw_only=True)
class ProbabilityPlan(_Counted):
    """An event has at least a certain probability; ``draws`` is the number of a sample, the cap of a monitor."""

    at_least: float
    every: int = 1

    @property
    def statement(self) -> str:
        return f"P({self.of}) ≥ {self.at_least:g}"

    @cached_property
    def core(self) -> Core:
        return Core(self.at_least, self.margin, self.draws, self.levels, self.every)


@final
@dataclass(frozen=True, kw_only=True)
class InequalityPlan(_Counted):
    """One column is at most another in every row; support leaves a share ``margin`` of violations open."""

    left: str = "left"
    right: str = "right"

    @property
    def statement(self) -> str:
        return f"{self.left} ≤ {self.right}  in every row"

    @cached_property
    def core(self) -> Core:
        return Core(1.0, self.margin, self.draws, self.levels)


def plan_probability(
    *,
    at_least: float,
    margin: float,
    draws: int,
    levels: Levels = DEFAULT_LEVELS,
    every: int = 1,
    name: str = "probability",
    of: str = "event",
) -> ProbabilityPlan:
    """Plan to decide that an event has at least this probability, false if it falls short by ``margin`` or more.

    **Raises:** `StatementError` or `DesignError` for what cannot be planned, saying what to write instead.
    """
    return ProbabilityPlan(
        at_least=float(at_least),
        margin=margin,
        draws=cast("int", counted(draws)),
        levels=levels,
        every=every,
        name=name,
        of=of,
    )


def probability(plan: ProbabilityPlan, outcomes: Any) -> Verdict:
    """Decide on a fixed sample: 1 or 0 (True or False) for each draw, NaN where rounding leaves the event open.

    **Raises:** `ObservationError` for another number of outcomes than planned, or values that are none.
    """
    data = numbers(outcomes, "The outcomes").ravel()
    if len(data) != plan.draws:
        raise ObservationError(
            f"{len(data)} outcomes were given, {plan.draws} were planned. A sample that grows until it pleases has no "
            f"level. Hand over what was planned; to be free when to stop, use decide.monitor(plan)."
        )
    sure, undecided, _ = outcomes_of(data)
    return of_counts(plan, sure, undecided)


def of_counts(plan: ProbabilityPlan, successes: int, undecided: int = 0) -> Verdict:
    """The same from counts of sure successes and of outcomes that could not be told, out of the planned draws."""
    decision = plan.core.from_counts(successes, plan.draws, undecided)
    return _told(plan, decision, successes, undecided, plan.draws)


@final
class Watch:
    """An event under watch: outcomes are added as they come, and the verdict may be asked after every one of them.

    The first rejection of either null stops it; later outcomes change nothing. However often it is asked, each error
    happens with at most its level.
    """

    def __init__(self, plan: ProbabilityPlan) -> None:
        self.plan = plan
        self._state = Monitor(plan.core)

    def add(self, outcomes: Any) -> Verdict:
        """Add outcomes (1, 0, or NaN), one or several; the verdict after them."""
        self._state = self._state.add(numbers(outcomes, "The outcomes").ravel())
        return self.verdict

    @property
    def stopped(self) -> bool:
        """Whether the claim is decided, or the planned cap of draws is reached."""
        return self._state.stopped

    @property
    def draws(self) -> int:
        """How many outcomes have been looked at."""
        return self._state.draws

    @property
    def verdict(self) -> Verdict:
        """The verdict at the last look."""
        state = self._state
        decision = state.decision
        found = _told(self.plan, decision, state.successes, state.undecided, state.draws)
        supporting, refuting = state.e_values
        evidence = refuting if decision.status is Status.REFUTED else supporting
        return replace(found, e_value=evidence if math.isfinite(evidence) else None)


def monitor(plan: ProbabilityPlan) -> Watch:
    """Watch an event: the same claim and plan, valid whenever one stops."""
    return Watch(plan)


def plan_inequality(
    *,
    draws: int,
    share: float = 0.02,
    levels: Levels = DEFAULT_LEVELS,
    name: str = "inequality",
    left: str = "left",
    right: str = "right",
) -> InequalityPlan:
    """Plan to decide that a bound holds in every row; ``share`` of violations is what support rules out.

    **Raises:** `StatementError` or `DesignError` for what cannot be planned, saying what to write instead.
    """
    planned = cast("int", counted(draws))
    return InequalityPlan(margin=share, draws=planned, levels=levels, name=name, left=left, right=right)


def inequality(plan: InequalityPlan, left: Any, right: Any, errors: Any = 0.0) -> Verdict:
    """Decide on one left and one right side per row; ``errors`` bound the error of their difference.

    A row whose left side exceeds the right by more than the error refutes; one that does so by less is left open.

    **Raises:** `ObservationError` for rows that are not those planned, or not finite.
    """
    sides = [numbers(side, f"The {name} side") for side, name in ((left, "left"), (right, "right"), (errors, "error"))]
    for side, name in zip(sides, ("left side", "right side", "error"), strict=True):
        if side.ndim > 1 or (side.ndim == 1 and len(side) != plan.draws):
            raise ObservationError(
                f"The {name} has the shape {side.shape}, {plan.draws} rows were planned. Write one number for each row."
            )
        bad = np.flatnonzero(~np.isfinite(np.atleast_1d(side)))
        if bad.size:
            raise ObservationError(
                f"The {name} in row {bad[0] + 1} is {np.atleast_1d(side)[bad[0]]:g}. It bounds nothing."
            )
    excess = np.broadcast_to(sides[0] - sides[1], (plan.draws,))
    return of_excess(
        plan, int((excess <= 0).sum()), int((excess > sides[2]).sum()), float(excess.max()), int(excess.argmax())
    )


def of_excess(plan: InequalityPlan, kept: int, violated: int, worst: float, row: int) -> Verdict:
    """The same from the numbers of rows that keep and that violate the bound, and the worst excess with its row."""
    undecided = plan.draws - kept - violated
    decision = plan.core.from_counts(kept, plan.draws, undecided)
    if violated:
        detail = f"violated in {violated} of {plan.draws} rows, most in row {row + 1}, by {worst:.3g}"
    elif undecided:
        detail = f"violated in no row, but within the declared errors in {undecided} of {plan.draws}"
    else:
        detail = f"no violation in {plan.draws} rows, the nearest to one came to within {-worst:.2g}"
        content = 1 - plan.levels.support ** (1 / plan.draws)
        detail += f": at most a share {content:.2g} of all rows violates it, at level {plan.levels.support:g}"
        if decision.status is not Status.SUPPORTED:
            detail += f"; {_needed(1.0, plan.margin, plan.levels)} rows would decide at a share of {plan.margin:g}"
    found = verdict(
        plan,
        decision,
        kind="inequality",
        predicted=None,
        unseen=(
            f"violations in less than a share {plan.margin:g} of the rows, or outside the law that they were drawn from",
        ),
        assumptions=(
            _INDEPENDENT,
            Assumption("float model", "both sides are exact up to the declared error", "declared"),
        ),
        scope="for rows drawn as these were, never for every instance",
        detail=detail,
        draws=plan.draws,
    )
    # What a reader wants beside the counts is not the share of successes but the excess, which the sentence has.
    return replace(
        found, cases=tuple(replace(case, estimate=None, interval=None, noticeable=None) for case in found.cases)
    )


@lru_cache(maxsize=1024)
def _needed(at_least: float, margin: float, levels: Levels, power: float = 0.8) -> int | None:
    """The search over exact binomial powers, once for every claim."""
    return fewest_draws(at_least, margin, levels, power)


def _told(plan: ProbabilityPlan, decision: Decision, successes: int, undecided: int, draws: int) -> Verdict:
    detail = f"the event held in {successes} of {draws} draws"
    if undecided:
        detail += f", and could not be told in {undecided}"
    detail += "".join(_strongest(plan, decision))
    return verdict(
        plan,
        decision,
        kind="probability",
        predicted=plan.at_least,
        points=(Point(0.0, decision.estimate, decision.se, draws),) if draws else (),
        unseen=(f"a probability that falls short of the claimed one by less than {plan.noticeable:.2g}",),
        assumptions=(_INDEPENDENT,),
        scope="for the law that the draws come from",
        detail=detail,
        draws=draws,
    )


def _strongest(plan: ProbabilityPlan, decision: Decision) -> Iterator[str]:
    boundary, level = plan.at_least - plan.margin, plan.levels.support
    if decision.status is Status.SUPPORTED:
        yield f": a probability of {boundary:.6g} or less is rejected at level {level:g}"
    elif decision.status is Status.REFUTED:
        yield f": at most {decision.upper:.6g} is supported, {plan.at_least:g} is claimed"
    else:
        yield f": at least {decision.lower:.6g} is supported, {boundary:.6g} was to be excluded"
        needed = _needed(plan.at_least, plan.margin, plan.levels)
        yield f"; {needed} draws would decide if it holds with no slack" if needed and needed > plan.draws else ""
