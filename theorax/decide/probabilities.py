"""The probability of an event from a fixed sample of draws, counted exactly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Self, cast, final

import numpy as np

from theorax.decide.binomial import fewest_draws, outcomes_of, power_of_support, proportion_of, shortfall_refuted
from theorax.decide.designs import ASSURED
from theorax.decide.draw_order import look_at_order
from theorax.decide.equivalence import decide, withheld
from theorax.decide.guard_findings import NOTHING_LOOKED_AT, Looked
from theorax.decide.kinds import DecidedQuantity, KindWords
from theorax.decide.own_verdicts import one_law_verdict
from theorax.decide.plans import NOTICED, Planned, Tested, draw_counts, positive
from theorax.decide.samples import float_array
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Reading, Reason, Side, Status
from theorax.decide.verdict import Assumption, Point, Standing, Verdict
from theorax.decide.wide_margins import NO_MEANING_OF_EVENT
from theorax.deleted import refuse_deleted_keywords
from theorax.errors import DesignError, ObservationError, StatementError
from theorax.names import many

__all__ = [
    "ProbabilityPlan",
    "decide_probability",
    "of_counts",
    "plan_probability",
    "probability",
    "refuse_wide_margin",
    "widest_margin",
]

WORDS = KindWords(
    "probability",
    DecidedQuantity("probability", is_share=True, has_margin=True),
    deviation="a probability {} below the claimed one",
)
"""Words of this kind in every report."""

INDEPENDENT = Assumption(
    "independence", "the draws are independent, of one law, and none was left out", Standing.DECLARED
)


_NARROWEST = 0.02
_WIDEST = 0.1
_ROUNDED = 1 + 2.0**-40  # decimals are doubles: 1 - 0.9 is below 0.1


def widest_margin(at_least: float) -> float:
    """The widest margin below a claimed probability: a tenth, or the probability of the opposite, but at least 1/50.

    Support of "at least 0.95" then excludes every probability below 0.9. The margin of an almost sure event is the share
    of draws that may violate it, up to a tenth.

    >>> widest_margin(0.95), widest_margin(0.5), widest_margin(0.999)
    (0.05, 0.1, 0.02)
    """
    if at_least == 1:
        return _WIDEST
    return round(max(_NARROWEST, min(at_least, 1 - at_least, _WIDEST)), 15)


def refuse_wide_margin(at_least: float, margin: float) -> None:
    """Let a margin pass that leaves the claimed probability its meaning.

    **Raises:** `DesignError` naming the widest margin.
    """
    widest = widest_margin(at_least)
    if margin > widest * _ROUNDED:
        raise DesignError(
            f"A probability of at least {at_least:g} was given the margin {margin:g}. Support would exclude only "
            f"probabilities below {at_least - margin:g}, which is another claim. Write a margin of at most {widest:g}, or "
            "claim the smaller probability."
        )


@final
@dataclass(frozen=True, kw_only=True)
class ProbabilityPlan(Planned):
    """An event has at least a certain probability, false if it falls short by ``margin`` or more, by a sample of ``draws``.

    ``expected``: the probability that the draws are planned for; the claimed one if None.
    """

    kind_words: ClassVar[KindWords] = WORDS
    hashed_as: ClassVar[str] = "ProbabilityPlan"

    at_least: float
    draws: int
    of: str = "event"
    expected: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.at_least <= 1:
            raise StatementError(
                f"A probability of at least {self.at_least:g} is claimed. Every event has one from zero to one, so "
                "this is always or never true. Write a number above 0 and at most 1."
            )
        super().__post_init__()
        object.__setattr__(self, "margin", positive("margin", self.margin, "the smallest shortfall that would matter"))
        if not self.margin < self.at_least:
            raise StatementError(
                f"A margin of {self.margin:g} below a probability of {self.at_least:g} was given. Support must exclude "
                f"some probability above zero. Write a margin between 0 and {self.at_least:g}."
            )
        refuse_wide_margin(self.at_least, self.margin)
        if self.expected is not None and not self.at_least <= self.expected <= 1:
            raise DesignError(
                f"expected={self.expected:g} is not between the claimed probability {self.at_least:g} and one. Draws are "
                "planned for a probability that makes the claim true. Write such a number, or nothing for the claimed one."
            )
        object.__setattr__(self, "draws", draw_counts(self.draws))

    def _hashed(self) -> list[str]:
        lines = [line for line in super()._hashed() if line != "expected=None"]
        # An earlier version had this field, with this default. Its line stays in the digest: without it the hash of
        # every probability would change, and its count of attempts would begin again.
        lines.insert(-1, "every=1")
        return lines

    @property
    def claimed(self) -> float:
        return self.at_least

    @property
    def statement(self) -> str:
        return f"P({self.of}) ≥ {self.at_least:g}"

    @property
    def boundary(self) -> float:
        """The largest probability that makes the claim false by the margin."""
        return self.at_least - self.margin

    @property
    def least_true(self) -> float:
        """The smallest probability that makes the claim true: the claimed one, or one that falls short by the margin."""
        return self.at_least - self.forgiven

    @property
    def bias(self) -> None:
        return None

    @property
    def no_meaning(self) -> str:
        return NO_MEANING_OF_EVENT if self.boundary < self.at_least / 2 else ""

    @property
    def half_width(self) -> float:
        # How far the lower limit lies below the claimed probability when just this share of the draws succeeds.
        successes = round(self.at_least * self.draws)
        return self.at_least - proportion_of(successes, self.draws).lower(self.levels.support)

    @property
    def noticeable(self) -> float:
        return self.forgiven + shortfall_refuted(self.draws, self.least_true, self.levels.refute, NOTICED)

    @property
    def cost(self) -> float:
        return float(self.draws)

    def power(self, truth: float | None = None) -> float:
        """The probability of support, where the event has the probability ``truth`` (the expected one)."""
        return power_of_support(
            self.draws, self.boundary, self.planned if truth is None else truth, self.levels.support
        )

    @property
    def planned(self) -> float:
        """The probability that the draws are planned for."""
        return self.at_least if self.expected is None else self.expected

    @property
    def worst_power(self) -> float:
        return self.power(self.at_least)

    @property
    def supposed(self) -> str:
        return super().supposed if self.expected is None else f"if the probability is {self.expected:g}"

    def cheapest(self, power: float = ASSURED) -> Self | None:
        found = _needed(self.at_least, self.margin, self.levels, power, self.planned)
        return None if found is None else replace(self, draws=found)

    @property
    def design(self) -> str:
        return many(self.draws, "draw")

    def _declared(self) -> Iterable[str]:
        yield f"excluded    probabilities below {self.boundary:g}"
        yield f"levels      {self.levels.support:g} of wrong support, {self.levels.refute:g} of wrong refutation"


@refuse_deleted_keywords
def plan_probability(
    *,
    at_least: float,
    margin: float,
    draws: int,
    levels: Levels = DEFAULT_LEVELS,
    reading: str = Reading.MARGIN,
    name: str = "probability",
    of: str = "event",
    expected: float | None = None,
) -> ProbabilityPlan:
    """Plan to decide that an event has at least this probability, false if it falls short by ``margin`` or more.

    ``expected``: the probability that the draws are planned for, where the event is likelier than is claimed.

    **Raises:** `StatementError` or `DesignError` for what cannot be planned, saying what to write instead.
    """
    return ProbabilityPlan(
        at_least=float(at_least),
        margin=margin,
        draws=cast("int", draw_counts(draws)),
        levels=levels,
        reading=cast("Reading", reading),
        name=name,
        of=of,
        expected=expected,
    )


def probability(plan: ProbabilityPlan, outcomes: Any) -> Verdict:
    """Decide on a fixed sample: 1 or 0 (True or False) for each draw, NaN where rounding leaves the event open.

    **Raises:** `ObservationError` for another number of outcomes than planned, or values that are none.
    """
    data = float_array(outcomes, "The outcomes").ravel()
    if len(data) != plan.draws:
        raise ObservationError(
            f"{len(data)} outcomes were given, {plan.draws} were planned. A sample that grows until it pleases has no "
            f"level. Give {plan.draws} outcomes, or plan {len(data)} before the next data: "
            f"decide.plan_probability(draws={len(data)}, ...)."
        )
    sure, undecided, _ = outcomes_of(data)
    return of_counts(plan, sure, undecided, look_at_order([np.where(np.isnan(data), 0.5, data)]))


def of_counts(plan: ProbabilityPlan, successes: int, undecided: int = 0, looked: Looked = NOTHING_LOOKED_AT) -> Verdict:
    """The same from counts of sure successes and of outcomes that could not be told, out of the planned draws."""
    return one_law_verdict(
        plan,
        replace(decide_probability(plan, successes, undecided), looked=looked),
        assumptions=(INDEPENDENT,),
        scope="for the law that the draws come from",
        draws=plan.draws,
    )


def decide_probability(
    plan: ProbabilityPlan, successes: int, undecided: int = 0, *, unconfirmed: bool = False
) -> Tested:
    """Decide from the numbers of sure successes and of outcomes that could not be told.

    ``unconfirmed``: the failures are those of floats alone. One sure failure refutes an event that is claimed to be
    exactly almost sure, and floats refute nothing.
    """
    counts = proportion_of(successes, plan.draws, undecided)
    decision = decide(counts, plan.at_least, plan.margin, Side.AT_LEAST, plan.levels, plan.reading)
    failures = plan.draws - successes - undecided
    if unconfirmed and failures and plan.least_true == 1:
        decision = withheld(decision, Reason.UNDECIDED_COMPARISON, refutation=True)
        detail = f"violated in {failures} of {many(plan.draws, 'draw')}; floats alone refute nothing"
        return replace(_with_counts(plan, decision, successes, undecided), detail=detail)
    return _with_counts(plan, decision, successes, undecided)


def _with_counts(plan: ProbabilityPlan, decision: Decision, successes: int, undecided: int) -> Tested:
    """The decision with the counts that it was made from."""
    drawn = many(plan.draws, "draw")
    detail = f"the event held in {successes} of {drawn}"
    if undecided:
        detail += f", and could not be told in {undecided}"
    unseen: list[str] = []
    if undecided:
        unseen.append(f"{undecided} of {drawn}, where the event hangs on rounding")
    points = (Point(0.0, decision.estimate, decision.se, plan.draws),)
    return Tested(decision, points, tuple(unseen), detail + _strongest(plan, decision))


@lru_cache(maxsize=1024)
def _needed(
    at_least: float, margin: float, levels: Levels, power: float = ASSURED, truth: float | None = None
) -> int | None:
    """The search over exact binomial powers, once for every claim."""
    return fewest_draws(at_least, margin, levels, power, truth)


def _strongest(plan: ProbabilityPlan, decision: Decision) -> str:
    level = plan.levels.support
    if decision.status is Status.SUPPORTED:
        return f": a probability of {plan.boundary:.6g} or less is rejected at level {level:.3g}"
    if decision.status is Status.REFUTED:
        return f": at most {decision.upper:.6g} is supported, {plan.least_true:.6g} is claimed"
    found = f": at least {decision.lower:.6g} is supported, {plan.boundary:.6g} was to be excluded"
    enough = _needed(plan.at_least, plan.margin, plan.levels)
    if enough and enough > plan.draws:
        found += f"; {many(enough, 'draw')} would decide if it holds with no slack"
    return found
