r"""The probability of an event: a fixed number of draws, or a monitor that may be asked at any time.

A fixed sample is decided from the `Proportion` interval (Clopper and Pearson), a monitor from the e-values of `Mixture`
against both nulls. Its evidence at the look that stops the monitor is kept: later draws change nothing, and its largest
value along the way is never used.

Events that hang on a comparison of floats have a third outcome, undecided: it speaks for neither null's rejection.

**Source:** Clopper and Pearson 1934.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, bdtrc, bdtrik, betaincinv, ndtri

from theorax.decide.betting_mixture import Mixture, log_evidence
from theorax.decide.equivalence import decide
from theorax.decide.interval import Proportion
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Side
from theorax.errors import DesignError, ObservationError, StatementError

__all__ = ["Mixture", "Monitor", "ProbabilityPlan", "fewest_draws", "log_evidence", "outcomes_of", "require_power"]

Vector = NDArray[np.float64]

# More draws than any budget of the library allows; the search for a design ends here.
_MOST_DRAWS = 2**26


@dataclass(frozen=True)
class ProbabilityPlan:
    """What is fixed before a draw: P(event) >= ``at_least``, false if by ``margin`` or more, and the number of draws.

    ``draws`` is that of a fixed sample and the cap of a monitor, which looks after ``every`` so many of them.

    **Raises:** `StatementError` for a claim that cannot be false or a margin that reaches zero; `DesignError` for no draws.
    """

    at_least: float
    margin: float
    draws: int
    levels: Levels = DEFAULT_LEVELS
    every: int = 10

    def __post_init__(self) -> None:
        if not 0 < self.at_least <= 1:
            raise StatementError(
                f"A probability of at least {self.at_least:g} is claimed. Every event has one from zero to one, so "
                "this is always or never true. Write a number above 0 and at most 1."
            )
        if not 0 < self.margin < self.at_least:
            raise StatementError(
                f"A margin of {self.margin:g} below a probability of {self.at_least:g} was given. Support must exclude "
                f"some probability above zero. Write a margin between 0 and {self.at_least:g}."
            )
        if int(self.draws) != self.draws or self.draws < 1 or self.every < 1:
            raise DesignError(
                f"{self.draws} draws, looked at after every {self.every}, were planned. Draws are counted. "
                "Write whole numbers of at least one."
            )

    @property
    def boundary(self) -> float:
        """The largest probability that makes the claim false by the margin."""
        return self.at_least - self.margin

    @property
    def half_width(self) -> float:
        """How far the lower limit lies below the claimed probability when just this share of the draws succeeds."""
        successes = round(self.at_least * self.draws)
        return self.at_least - proportion_of(successes, self.draws).lower(self.levels.support)

    def power(self, truth: float | None = None) -> float:
        """The probability of support, where the event has the probability ``truth`` (the claimed one)."""
        truth = self.at_least if truth is None else truth
        (least,) = _supporting(np.array([self.draws]), self.boundary, self.levels.support)
        return 0.0 if least > self.draws else _at_least(least, self.draws, truth)

    def noticeable(self, power: float = 0.9) -> float:
        """The shortfall of the probability that is refuted with this power; infinite where none is."""
        most = _refuting(self.draws, self.at_least, self.levels.refute)
        if most < 0:
            return math.inf
        # P(Bin(n, p) <= c) = power
        return self.at_least - (1 - float(betaincinv(self.draws - most, most + 1, power)))

    def decides(self, power: float = 0.0) -> bool:
        """Whether support is within reach with this power; a claim it is out of reach for is not worth running."""
        return self.half_width < self.margin and self.power() >= power

    def decide(self, outcomes: ArrayLike) -> Decision:
        """Decide a fixed sample of outcomes (1, 0, or NaN where the event could not be told), all of them at once."""
        sure, undecided, draws = outcomes_of(outcomes)
        return self.from_counts(sure, draws, undecided)

    def from_counts(self, successes: int, draws: int, undecided: int = 0) -> Decision:
        """The same from the numbers of sure successes, of draws, and of those that could not be told."""
        return decide(
            proportion_of(successes, draws, undecided), self.at_least, self.margin, Side.AT_LEAST, self.levels
        )


def outcomes_of(outcomes: ArrayLike) -> tuple[int, int, int]:
    """How many outcomes are sure successes, how many undecided (NaN), how many there are.

    **Raises:** `ObservationError` where there is none, or one that is neither 0, 1 nor NaN.
    """
    data = np.asarray(outcomes, float).ravel()
    if not data.size:
        raise ObservationError("No outcome was given. Nothing is known of the event. Give at least one draw.")
    undecided = np.isnan(data)
    if stray := np.flatnonzero(~(undecided | (data == 0) | (data == 1))).tolist():
        raise ObservationError(
            f"Outcome number {stray[0]} is {data[stray[0]]:g}. An event happens or does not. "
            "Write 1 or 0 (True or False), or NaN where rounding leaves it open."
        )
    return int((data == 1).sum()), int(undecided.sum()), len(data)


def proportion_of(successes: int, draws: int, undecided: int = 0) -> Proportion:
    """Clopper and Pearson's interval, undecided outcomes counted against whatever is to be shown."""
    share = (successes + undecided / 2) / draws
    return Proportion(
        share, math.sqrt(share * (1 - share) / draws), float(draws - 1), 0.0, 0.0, successes, draws, 0.0, 1.0, undecided
    )


def fewest_draws(
    at_least: float, margin: float, levels: Levels = DEFAULT_LEVELS, power: float = 0.8, truth: float | None = None
) -> int | None:
    """The fewest draws of a fixed sample that support with this power if the probability is ``truth`` (as claimed).

    The normal approximation says where to look; from half of it on numbers are tried with the exact binomial law, whose
    power is a saw: every one up to ten thousand, then one in each 5000th part. None where the truth lies on or below
    the boundary, or more than 2^26 draws are needed.
    """
    p, null = (at_least if truth is None else truth), at_least - margin
    if p <= null:
        return None
    if p == 1:  # n clean draws: (p0 - eta)^n <= alpha, whatever the power
        return max(1, math.ceil(math.log(levels.support) / math.log(null)))
    z = float(ndtri(1 - levels.support)) * math.sqrt(null * (1 - null)) + float(ndtri(power)) * math.sqrt(p * (1 - p))
    start = max(1, int((z / (p - null)) ** 2 / 2))
    while start < _MOST_DRAWS:
        draws = start + np.arange(2000) * max(1, start // 5000)
        reached = _powers(draws, null, p, levels.support) >= power
        if reached.any():
            return int(draws[int(np.argmax(reached))])
        start = int(draws[-1]) + 1
    return None


def require_power(plan: ProbabilityPlan, name: str = "The claim", power: float = 0.8) -> None:
    """Let a plan pass that can decide.

    **Raises:** `DesignError` with the fewest draws that support with this power.
    """
    if plan.decides():
        return
    needed = fewest_draws(plan.at_least, plan.margin, plan.levels, power)
    remedy = f"Write draws={needed} for a power of {power:g}." if needed else "Write a wider margin."
    raise DesignError(
        f"{name} cannot be decided with {plan.draws} draws: at the claimed probability {plan.at_least:g} the lower "
        f"limit lies {plan.half_width:.2g} below it, and the margin is {plan.margin:g}. {remedy}"
    )


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
        if plan.at_least < 1:
            crossed |= log_evidence(sure + open_, times, plan.at_least, above=False) > -math.log(levels.refute)
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
        return decide(self.interval, self.plan.at_least, self.plan.margin, Side.AT_LEAST, self.plan.levels)

    @property
    def e_values(self) -> tuple[float, float]:
        """The e-values for support and for refutation, frozen once the monitor has stopped.

        Not 1/p: p stops at one, and an e-value that never falls below one has a mean above it.
        """
        if not self.draws:
            return 1.0, 1.0
        plan, possible = self.plan, self.successes + self.undecided
        supporting = _exp(log_evidence(self.successes, self.draws, plan.boundary, above=True))
        if plan.at_least >= 1:
            return supporting, math.inf if possible < self.draws else 1.0
        return supporting, _exp(log_evidence(possible, self.draws, plan.at_least, above=False))


def _exp(logarithm: Vector) -> float:
    """Infinite where the float would overflow: at a million draws evidence may exceed any of them."""
    return math.exp(value) if (value := float(logarithm)) < 700 else math.inf


def _supporting(draws: NDArray[np.int64], null: float, level: float) -> NDArray[np.int64]:
    """The fewest successes that reject a probability of at most ``null``; one more than all where none do."""
    guess = np.nan_to_num(np.floor(bdtrik(1 - level, draws, null)), nan=0.0).astype(np.int64)
    least = np.maximum(guess, 1)
    for _ in range(4):  # the inverse is one off at most, on either side
        least = np.where((least <= draws) & (_tail(least, draws, null) > level), least + 1, least)
    for _ in range(4):
        least = np.where((least > 1) & (_tail(least - 1, draws, null) <= level), least - 1, least)
    return least


def _refuting(draws: int, claimed: float, level: float) -> int:
    """The most successes that reject a probability of at least ``claimed``; -1 where none do."""
    if claimed >= 1:
        return draws - 1
    low, high = -1, draws
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bdtr(middle, draws, claimed) <= level else (low, middle)
    return low


def _powers(draws: NDArray[np.int64], null: float, truth: float, level: float) -> Vector:
    least = _supporting(draws, null, level)
    return np.where(least > draws, 0.0, _tail(least, draws, truth))


def _tail(least: NDArray[np.int64], draws: NDArray[np.int64], share: float) -> Vector:
    """P(Bin(draws, share) >= least)."""
    return bdtrc(np.minimum(least, draws) - 1.0, draws, share) * (least <= draws)


def _at_least(least: int, draws: int, share: float) -> float:
    return float(bdtrc(float(least - 1), draws, share))
