r"""An event under watch: the claim may be asked after every draw, and either error keeps its level.

What is asked are the e-values of `Mixture` against both nulls. The evidence at the look that stops the monitor is kept:
later draws change nothing, and the largest value along the way is never used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theorax.decide.betting_mixture import Mixture, log_evidence
from theorax.decide.binomial import outcomes_of
from theorax.decide.equivalence import decide
from theorax.decide.probabilities import ProbabilityPlan, verdict_of, with_counts
from theorax.decide.samples import numbers
from theorax.decide.status import Decision, Side, Status
from theorax.decide.verdict import Verdict
from theorax.decide.wording import finite

__all__ = ["Monitor", "Watch", "monitor"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Monitor:
    """A claim about a probability that is watched: counts at the last look, counts since, and whether it has stopped.

    It stops at the first look at which either null is rejected, and at the cap of its plan. How outcomes are cut into
    batches changes nothing: looks are at multiples of ``plan.every``.
    """

    plan: ProbabilityPlan
    successes: int = 0
    undecided: int = 0
    draws: int = 0
    since: tuple[float, ...] = ()
    stopped: bool = False

    def add(self, outcomes: ArrayLike) -> Monitor:
        """The monitor after further outcomes (1, 0, or NaN where the event could not be told)."""
        fresh = np.asarray(outcomes, float).ravel()
        if fresh.size:
            outcomes_of(fresh)
        if self.stopped or not fresh.size:
            return self
        data = np.concatenate([np.asarray(self.since), fresh])
        room = self.plan.draws - self.draws
        ends = np.arange(self.plan.every, min(len(data), room) + 1, self.plan.every)
        if len(data) >= room and (not ends.size or ends[-1] != room):
            ends = np.append(ends, room)  # the cap is the last look
        if not ends.size:
            return replace(self, since=tuple(map(float, data)))
        sure = self.successes + np.cumsum(data == 1)[ends - 1]
        open_ = self.undecided + np.cumsum(np.isnan(data))[ends - 1]
        times = self.draws + ends
        levels, plan = self.plan.levels, self.plan
        crossed = log_evidence(sure, times, plan.boundary, above=True) > -math.log(levels.support)
        if plan.least_true < 1:
            crossed |= log_evidence(sure + open_, times, plan.least_true, above=False) > -math.log(levels.refute)
        else:
            crossed |= sure + open_ < times
        at = int(np.argmax(crossed)) if crossed.any() else len(ends) - 1
        stopped = bool(crossed.any()) or int(times[at]) >= plan.draws
        return replace(
            self,
            successes=int(sure[at]),
            undecided=int(open_[at]),
            draws=int(times[at]),
            since=() if stopped else tuple(map(float, data[ends[at] :])),
            stopped=stopped,
        )

    @property
    def interval(self) -> Mixture:
        """The interval at the last look, valid at every look together."""
        share = (self.successes + self.undecided / 2) / self.draws if self.draws else 0.5
        se = math.sqrt(share * (1 - share) / self.draws) if self.draws else math.inf
        return Mixture(share, se, math.inf, 0.0, 0.0, self.successes, self.draws, self.undecided)

    @property
    def decision(self) -> Decision:
        """The decision at the last look; the p-values are those at the time it stopped."""
        plan = self.plan
        return decide(self.interval, plan.at_least, plan.margin, Side.AT_LEAST, plan.levels, plan.reading)

    @property
    def e_values(self) -> tuple[float, float]:
        """The e-values for support and for refutation, frozen once the monitor has stopped.

        Not 1/p: p stops at one, and an e-value that never falls below one has a mean above it.
        """
        if not self.draws:
            return 1.0, 1.0
        plan, possible = self.plan, self.successes + self.undecided
        supporting = _exp(log_evidence(self.successes, self.draws, plan.boundary, above=True))
        if plan.least_true >= 1:
            return supporting, math.inf if possible < self.draws else 1.0
        return supporting, _exp(log_evidence(possible, self.draws, plan.least_true, above=False))


def _exp(logarithm: Vector) -> float:
    """Infinite where the float would overflow: at a million draws evidence may exceed any of them."""
    return math.exp(value) if (value := float(logarithm)) < 700 else math.inf


@final
class Watch:
    """An event under watch: outcomes are added as they come, and the verdict may be asked after every one of them.

    The first rejection of either null stops it; later outcomes change nothing. However often it is asked, each error
    happens with at most its level.
    """

    def __init__(self, plan: ProbabilityPlan) -> None:
        self.state = Monitor(plan)

    @property
    def plan(self) -> ProbabilityPlan:
        """The plan, fixed before the first draw."""
        return self.state.plan

    def add(self, outcomes: Any) -> Verdict:
        """Add outcomes (1, 0, or NaN), one or several; the verdict after them."""
        self.state = self.state.add(numbers(outcomes, "The outcomes").ravel())
        return self.verdict

    @property
    def stopped(self) -> bool:
        """True once the claim is decided or the planned cap of draws is reached."""
        return self.state.stopped

    @property
    def draws(self) -> int:
        """Number of outcomes so far."""
        return self.state.draws

    @property
    def verdict(self) -> Verdict:
        """The verdict at the last look."""
        state = self.state
        decision = state.decision
        found = verdict_of(
            state.plan, with_counts(state.plan, decision, state.successes, state.undecided, state.draws), state.draws
        )
        supporting, refuting = state.e_values
        return replace(found, e_value=finite(refuting if decision.status is Status.REFUTED else supporting))


def monitor(plan: ProbabilityPlan) -> Watch:
    """Watch an event: the same claim and plan, valid whenever one stops."""
    return Watch(plan)
