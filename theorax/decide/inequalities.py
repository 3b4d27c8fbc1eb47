r"""A bound in every draw: without violation among N draws, a share q of violations is ruled out with p = (1 - q)^N.

Support is for the law that was sampled, never for every instance. One sure violation refutes a bound in every draw. Under
the margin reading the claim is a share of violations below the margin: sure violations are counted (Clopper and Pearson).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from theorax.decide.binomial import proportion_of, shortfall_refuted
from theorax.decide.designs import ASSURED
from theorax.decide.draw_guards import are_equal, is_distinct, repeats, same_draws
from theorax.decide.draw_order import look_at_order
from theorax.decide.equivalence import decide
from theorax.decide.guard_findings import NOTHING_LOOKED_AT, Looked, all_looked
from theorax.decide.kinds import DecidedQuantity, KindWords, Meanings, QuantityForm
from theorax.decide.own_verdicts import one_law_verdict
from theorax.decide.plans import NOTICED, Planned, Tested, draw_counts, positive
from theorax.decide.probabilities import INDEPENDENT
from theorax.decide.samples import float_array
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Reading, Reason, Side, Status
from theorax.decide.verdict import Assumption, Standing, Tightness, Verdict
from theorax.errors import ObservationError, StatementError
from theorax.names import many

__all__ = [
    "SHARE",
    "Excess",
    "InequalityPlan",
    "InstancesPlan",
    "decide_inequality",
    "inequality",
    "look_at_rows",
    "of_excess",
    "plan_inequality",
    "tightness_of",
]

WORDS = KindWords(
    "inequality",
    DecidedQuantity("share of violations", "violations", QuantityForm.ERROR, is_share=True, has_margin=True),
    deviation="a violation in a share {} of the draws",
    meanings=Meanings(
        supported="no violation was found, and the data exclude all but a small share of violations",
        refuted="it is violated",
        inconclusive="no violation is certain, and rare ones are not ruled out",
        beyond="more than the declared share violates it",
        within="it is violated, and the numbers rule out that more than a small share violates it",
    ),
)
"""Words of this kind in every report."""

SHARE = 0.02
"""The share of violations that support rules out where none is declared."""


def tightness_of(smaller: Any, larger: Any) -> Tightness | None:
    """Quantiles of the smaller side over the larger one; None where a larger side vanishes and the smaller does not.

    Sides that are equal count as one, zeros among them.
    """
    left, right = (np.ravel(np.asarray(side, dtype=float)) for side in (smaller, larger))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(left == right, 1.0, left / right)
    if not ratio.size or not np.isfinite(ratio).all():
        return None
    low, middle, high = np.quantile(ratio, (0.05, 0.5, 0.95))
    return float(low), float(middle), float(high)


@dataclass(frozen=True, kw_only=True)
class InequalityPlan(Planned):
    """One column is at most another in every draw; support leaves a share of violations below ``margin`` open.

    ``sizes``: how many sizes share the draws equally.
    """

    kind_words: ClassVar[KindWords] = WORDS
    hashed_as: ClassVar[str] = "InequalityPlan"

    draws: int
    sizes: int = 1
    left: str = "left"
    right: str = "right"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "margin", positive("margin", self.margin, "the share of violations to rule out"))
        if not self.margin < 1:
            raise StatementError(
                f"A share of violations of {self.margin:g} was given. Support must rule some share out. "
                "Write a number between 0 and 1."
            )
        object.__setattr__(self, "draws", draw_counts(self.draws))

    @property
    def statement(self) -> str:
        where = f"in all rows but a share below {self.margin:g}" if self.forgiven else "in every row"
        return f"{self.left} ≤ {self.right}  {where}"

    @property
    def words(self) -> tuple[str, str]:
        return "no violation", "a share of "

    @property
    def bias(self) -> None:
        return None

    @property
    def half_width(self) -> float:
        # The share of violations that no violation at all leaves open.
        return self.left_open(self.draws)

    def left_open(self, draws: int) -> float:
        """The largest share of violations that stays possible after so many draws without one, at the level of support."""
        return 1 - self.levels.support ** (1 / draws)

    @property
    def noticeable(self) -> float:
        if self.forgiven:
            return self.forgiven + shortfall_refuted(self.draws, 1 - self.forgiven, self.levels.refute, NOTICED)
        # A share q shows no violation in N draws with probability (1 - q)^N.
        return 1 - (1 - NOTICED) ** (1 / self.draws)

    @property
    def of_no_violation(self) -> float:
        """The p-value of support where no draw violates the bound."""
        return (1 - self.margin) ** self.draws

    @property
    def _lack(self) -> str:
        share = f"a share below {self.half_width:.2g} violates it"
        return f"{self.design} show at best that {share}, {self.margin:.2g} is needed"

    @property
    def cost(self) -> float:
        return float(self.draws)

    def power(self) -> float:
        # A true bound is never violated.
        return float(self.of_no_violation <= self.levels.support)

    def cheapest(self, power: float = ASSURED) -> Self:
        fewest = math.ceil(math.log(self.levels.support) / math.log1p(-self.margin))
        return replace(self, draws=self.sizes * math.ceil(fewest / self.sizes))

    @property
    def design(self) -> str:
        return (
            f"{many(self.draws, 'draw')}"
            if self.sizes == 1
            else f"{many(self.draws // self.sizes, 'draw')} at each of {many(self.sizes, 'size')}"
        )

    def _declared(self) -> Iterable[str]:
        yield f"levels      {self.levels.support:g} of wrong support, {self.levels.refute:g} of wrong refutation"


@final
@dataclass(frozen=True, kw_only=True)
class InstancesPlan(InequalityPlan):
    """Instances of an exact claim without a violation: it counts them, and says nothing of the size of a difference."""

    has_interval: ClassVar[bool] = False
    runs_if_weak: ClassVar[bool] = True

    @property
    def noticeable(self) -> float:
        return math.inf


@final
@dataclass(frozen=True)
class Excess:
    """Draws against a bound: the numbers that surely keep it and surely violate it, and the largest excess.

    The largest excess has its error added: no true excess is larger.

    ``sample``: which draw the largest one is, as a reader finds it.
    """

    kept: int
    violated: int
    largest: float
    sample: str = ""


def plan_inequality(
    *,
    draws: int,
    share: float | None = None,
    levels: Levels = DEFAULT_LEVELS,
    reading: str | None = None,
    name: str = "inequality",
    left: str = "left",
    right: str = "right",
) -> InequalityPlan:
    """Plan to decide that a bound holds in every row; ``share`` of violations is what support rules out.

    A declared share is the margin that violations may take; without one the bound is read exactly, and support rules out
    a share of 0.02.

    **Raises:** `StatementError` or `DesignError` for what cannot be planned, saying what to write instead.
    """
    planned = cast("int", draw_counts(draws))
    if reading is None:
        reading = Reading.EXACT if share is None else Reading.MARGIN
    return InequalityPlan(
        margin=SHARE if share is None else share,
        draws=planned,
        levels=levels,
        reading=cast("Reading", reading),
        name=name,
        left=left,
        right=right,
    )


def inequality(plan: InequalityPlan, left: Any, right: Any, errors: Any = 0.0) -> Verdict:
    """Decide on one left and one right side per row; ``errors`` bound the error of their difference.

    A row keeps the bound if it does so whatever its error, and violates it if it does so whatever its error.

    **Raises:** `ObservationError` for rows that are not those planned, or not finite.
    """
    sides = [
        float_array(side, f"The {name} side") for side, name in ((left, "left"), (right, "right"), (errors, "error"))
    ]
    for side, name in zip(sides, ("left side", "right side", "error"), strict=True):
        if side.ndim > 1 or (side.ndim == 1 and len(side) != plan.draws):
            raise ObservationError(
                f"The {name} has the shape {side.shape}, the plan {many(plan.draws, 'row')}. Write one number for each row."
            )
        bad = np.flatnonzero(~np.isfinite(np.atleast_1d(side)))
        if bad.size:
            raise ObservationError(
                f"The {name} in row {bad[0] + 1} is {np.atleast_1d(side)[bad[0]]:g}. It bounds nothing."
            )
    if (sides[2] < 0).any():
        raise ObservationError(
            f"The error in row {int(np.argmax(np.atleast_1d(sides[2]) < 0)) + 1} is negative. A bound of an error is a "
            "number from zero on. Write zero for rows that are exact."
        )
    excess, error = (np.broadcast_to(part, (plan.draws,)) for part in (sides[0] - sides[1], sides[2]))
    reached = excess + error
    kept, violated = int((reached <= 0).sum()), int((excess > error).sum())
    excess_of = Excess(kept, violated, float(reached.max()), f"row {int(reached.argmax()) + 1}")
    return of_excess(plan, excess_of, look_at_rows(plan, sides[0], sides[1]))


def look_at_rows(plan: InequalityPlan, left: NDArray[np.float64], right: NDArray[np.float64]) -> Looked:
    """Look at both sides for rows that are all the same, repeat each other or depend on earlier ones."""
    constant = all(side.ndim == 0 or are_equal(side) for side in (left, right))
    found = [same_draws(f"{plan.left} and {plan.right}")] if constant else []
    if is_distinct([side for side in (left, right) if side.ndim]) is False:
        found.append(repeats())
    return all_looked([Looked(tuple(found)), look_at_order([np.atleast_1d(left - right)])])


def of_excess(plan: InequalityPlan, excess: Excess, looked: Looked = NOTHING_LOOKED_AT) -> Verdict:
    """The same from the numbers of rows that keep and that violate the bound, and the largest excess."""
    tested = replace(decide_inequality(plan, excess), looked=looked)
    return one_law_verdict(
        plan,
        tested,
        assumptions=(
            INDEPENDENT,
            Assumption("float model", "both sides are exact up to the declared error", Standing.DECLARED),
        ),
        scope="for rows drawn as these were, never for every instance",
        draws=plan.draws,
    )


def decide_inequality(plan: InequalityPlan, excess: Excess) -> Tested:
    """Decide from how far the draws exceed the bound.

    | draws | status |
    |---|---|
    | one surely violates it | refuted |
    | one may violate it, within its error | inconclusive: numeric floor |
    | every one surely keeps it, and they are enough | supported |
    | every one surely keeps it, and they are too few | inconclusive: underpowered |

    Under the margin reading the share of violations is held against the margin, doubtful draws counting against either
    word.
    """
    draws, level = plan.draws, plan.levels.support
    doubtful = draws - excess.kept
    if plan.reading is Reading.MARGIN:
        return _decide_share(plan, excess, doubtful - excess.violated)
    share = plan.left_open(draws)
    status, reason = Status.INCONCLUSIVE, None
    if excess.violated:
        status = Status.REFUTED
        detail = (
            f"violated in {excess.violated} of {many(draws, 'draw')}, most in {excess.sample}, by {excess.largest:.3g}"
        )
    elif doubtful:
        reason = Reason.NUMERIC_FLOOR
        detail = f"{doubtful} of {many(draws, 'draw')} exceed it, within the declared errors or by floats alone"
        detail += f", by up to {excess.largest:.3g}"
    else:
        detail = f"no violation in {many(draws, 'draw')}, the nearest to one came to within {abs(excess.largest):.2g}"
        detail += f": at most a share {share:.2g} of all draws violates it, at level {level:.3g}"
        if plan.decides:
            status = Status.SUPPORTED
        else:
            reason = Reason.UNDERPOWERED
            detail += f"; {many(plan.cheapest().draws, 'draw')} would decide at a share of {plan.margin:g}"
    unseen = f"violations in less than a share {share:.2g} of the draws, or outside the law that they were drawn from"
    return Tested(_decision(plan, status, reason, doubtful), unseen=(unseen,), detail=detail)


def _decide_share(plan: InequalityPlan, excess: Excess, doubtful: int) -> Tested:
    """Decide whether the share of violations is below the margin."""
    draws, levels = plan.draws, plan.levels
    share = proportion_of(excess.violated, draws, doubtful)
    decision = decide(share, 0.0, plan.margin, Side.AT_MOST, levels, plan.reading)
    most, least = share.upper(levels.support), share.lower(levels.refute)
    detail = (
        f"surely violated in {excess.violated} of {many(draws, 'draw')}; the largest excess is {excess.largest:.3g}"
    )
    detail += f"; {doubtful} exceed it within the declared errors alone" if doubtful else ""
    bound, open_, level = ("most", most, levels.support)
    if decision.status is Status.REFUTED:
        bound, open_, level = ("least", least, levels.refute)
    detail += f": at {bound} a share {open_:.2g} of all draws violates it, at level {level:.3g}"
    if decision.status is Status.INCONCLUSIVE:
        detail += f"; {plan.margin:.2g} was to be told apart"
        decision = replace(decision, reason=Reason.NUMERIC_FLOOR) if doubtful else decision
    unseen = f"violations in less than a share {most:.2g} of the draws, or outside the law that they were drawn from"
    return Tested(decision, unseen=(unseen,), detail=detail)


def _decision(plan: InequalityPlan, status: Status, reason: Reason | None, doubtful: int) -> Decision:
    """The decision on the share of violations, which the claim says is zero."""
    refuted = status is Status.REFUTED
    return Decision(
        status=status,
        reason=reason,
        p_refute=0.0 if refuted else 1.0,
        p_support=1.0 if doubtful else plan.of_no_violation,
        breakdown_support=math.inf if status is Status.SUPPORTED else 0.0,
        breakdown_refute=math.inf if refuted else -math.inf,
        equivalent_within_margin=False,
        estimate=doubtful / plan.draws,
        se=0.0,
        df=math.inf,
        bias=0.0,
        lower=0.0,
        upper=1.0 if doubtful else plan.half_width,
        claimed=0.0,
        margin=plan.margin,
        side=Side.AT_MOST,
        levels=plan.levels,
    )
