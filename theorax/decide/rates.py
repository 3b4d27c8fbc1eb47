"""Rates of own numbers: the exponent of a power, or the constant of an exponential, exact or one-sided."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, cast, final

import numpy as np
from numpy.typing import NDArray

from theorax.decide.draws import Gathered, above_zero, by_size, gather_logs
from theorax.decide.plans import Seeds, SweepPlan, chosen, counted, spread, sweep
from theorax.decide.verdicts import ledger, sweep_verdict, undecided
from theorax.errors import DesignError
from theorax.theorems.language.approach import Corrections
from theorax.verifiers.bias import Plan, Policy, Target, Weights, solve
from theorax.verifiers.decide import decide, is_robust
from theorax.verifiers.decision import DEFAULT_LEVELS, Decision, Levels, Refusal, Side
from theorax.verifiers.estimate import above_floor, log_of_mean, log_of_mean_independent
from theorax.verifiers.interval import Interval
from theorax.verifiers.outcome import Assumption, Verdict
from theorax.verifiers.planning import alarmed, plateau

__all__ = ["SIDES", "Average", "RatePlan", "order", "plan_rate", "rate"]

Vector = NDArray[np.float64]

# What is estimated is a decay exponent, minus the exponent that a reader sees: growth of at most n^a is decay of at
# least -a.
SIDES = {"exact": Side.EQUAL, "at most": Side.AT_LEAST, "at least": Side.AT_MOST}
FORMS = {"power": Target.EXPONENT, "exponential": Target.DECAY_RATE}

# The jackknife of the log of a mean errs at 0.034 to 0.040 in place of 0.025 from this sd of log q on: half the level
# is spent there (METHOD, section 4.4).
_JACKKNIFE_LIMIT = 0.6


class Average(StrEnum):
    """What is averaged before the rate is read off."""

    MEAN_OF_LOG = "mean of log"
    LOG_OF_MEAN = "log of mean"


@final
@dataclass(frozen=True, kw_only=True)
class RatePlan(SweepPlan):
    """The order of growth of a random quantity: ``n**exponent``, or ``exp(exponent*n)``, decided before any draw."""

    exponent: float
    side: str = "exact"
    form: str = "power"
    floor: float = 0.0
    average: Average = Average.MEAN_OF_LOG

    def __post_init__(self) -> None:
        object.__setattr__(self, "average", Average(chosen("average", self.average, list(Average))))
        chosen("side", self.side, SIDES)
        chosen("form", self.form, FORMS)
        super().__post_init__()

    @property
    def statement(self) -> str:
        return order(self.of, self.letter, self.exponent, self.side, self.form)

    @property
    def spent(self) -> Levels:
        """The levels that the decision spends: half of them where the jackknife is known to exceed them."""
        largest = max(self.sd) if isinstance(self.sd, tuple) else self.sd
        if self.average is Average.LOG_OF_MEAN and largest > _JACKKNIFE_LIMIT:
            return Levels(self.levels.support / 2, self.levels.refute / 2)
        return self.levels

    @cached_property
    def core(self) -> Plan:
        return Plan(
            sizes=self.sizes,
            corrections=self.corrections.anchored(self.sizes[0]),
            target=FORMS[self.form],
            sd=self.sd,
            draws=self.draws,
            policy=self.seeds.policy,
            side=SIDES[self.side],
            levels=self.spent,
        )


def plan_rate(
    sizes: Iterable[float],
    *,
    exponent: float,
    margin: float,
    draws: int | Sequence[int] = 32,
    sd: float | Sequence[float] = 0.2,
    seeds: str = "undeclared",
    side: str = "exact",
    form: str = "power",
    corrections: Corrections | None = None,
    floor: float = 0.0,
    average: str = "mean of log",
    levels: Levels = DEFAULT_LEVELS,
    name: str = "rate",
    letter: str = "n",
    of: str = "q",
) -> RatePlan:
    """Plan to decide that a positive random quantity is of the order ``n**exponent`` (or ``exp(exponent*n)``).

    ``side``: "exact" (of that order), "at most" (O), "at least" (Ω). ``sd`` is that of the logarithm of one draw;
    ``floor`` an absolute numerical floor of the quantity: sizes at which its mean is below fifty floors are left out.

    **Raises:** `DesignError` or `StatementError` for what cannot be planned, saying what to write instead.
    """
    if not math.isfinite(exponent):
        raise DesignError(f"exponent={exponent!r} is no order of growth. Write that of n, such as -1 for decay as 1/n.")
    if not 0 <= floor < math.inf:
        raise DesignError(f"floor={floor!r} is no numerical floor. Write a bound of the rounding, 0 for none.")
    return RatePlan(
        sizes=sweep(sizes),
        exponent=float(exponent),
        margin=margin,
        draws=counted(draws),
        sd=spread("sd", sd),
        seeds=cast("Seeds", seeds),
        side=side,
        form=form,
        corrections=Corrections() if corrections is None else corrections,
        floor=float(floor),
        average=cast("Average", average),
        levels=levels,
        name=name,
        letter=letter,
        of=of,
    )


def rate(plan: RatePlan, values: Any) -> Verdict:
    """Decide the rate on draws: a table ``draws x sizes``, or one array per size.

    **Raises:** `ObservationError` for draws that are not those planned, not finite, or not positive.
    """
    gathered = values if isinstance(values, Gathered) else gather_logs(plan, above_zero(plan, by_size(plan, values)))
    weights, errors, sizes = plan.weights, np.zeros(len(plan.sizes)), len(plan.sizes)
    claimed, side = -plan.exponent, SIDES[plan.side]
    moments = Assumption(
        "moment",
        "weighted means of the logarithms are near normal (Student's t)"
        if plan.average is Average.MEAN_OF_LOG
        else "the delete-one jackknife of the log of the mean is near normal (Student's t)",
        "declared",
    )
    assumptions = ledger(plan, moments)
    try:
        if plan.floor:
            sizes, errors = above_floor([point.mean for point in gathered.raw], plan.floor)
            weights = solve(_truncated(plan.core, sizes))
            text = (
                f"below fifty floors of {plan.floor:.2g} nothing is read: {sizes} of {len(plan.sizes)} sizes are used"
            )
            assumptions = (*assumptions, Assumption("float model", text, "declared"))
    except Refusal as refusal:
        nothing = Decision.undecided(refusal.reason, claimed, plan.margin, side, plan.core.levels)
        return sweep_verdict(
            plan,
            nothing,
            kind="rate",
            predicted=plan.exponent,
            points=gathered.points,
            unseen=(),
            assumptions=assumptions,
            sign=-1,
            detail=undecided(refusal),
        )

    def estimate(k: Vector, bias: float) -> Interval:
        given = float(np.abs(k) @ errors[:sizes])
        if plan.average is Average.MEAN_OF_LOG:
            return gathered.summary.first(sizes).interval(k, bias + given)
        if plan.core.policy is Policy.PAIRED:
            return log_of_mean(np.stack(gathered.columns[:sizes], axis=1), k, bias + given)
        return log_of_mean_independent(gathered.columns[:sizes], k, bias + given)

    def weighted(found: Weights) -> Interval:
        return estimate(found.vector, found.bias.total)

    decision = decide(weighted(weights), claimed, plan.margin, side, weights.plan.levels)
    decision = replace(decision, robust=is_robust(decision, weights.plan, weighted))
    decision, detail = alarmed(decision, weights.plan, estimate)
    unseen = [f"an exponent that differs from the claimed one by less than {weights.mde(0.9):.2g}"]
    flat = plateau(weights, claimed) if claimed > 0 else 0.0
    if 0 < flat < math.inf:
        unseen.append(f"a plateau of up to {flat:.0%} of the last value")
    unseen.append("corrections that are larger than declared, or fade more slowly")
    return sweep_verdict(
        plan,
        decision,
        kind="rate",
        predicted=plan.exponent,
        points=gathered.points,
        unseen=unseen,
        assumptions=assumptions,
        sign=-1,
        detail=detail,
    )


def order(of: str, letter: str, exponent: float, side: str, form: str) -> str:
    """A rate as Unicode mathematics.

    >>> order("error", "N", -1, "exact", "power")
    'error = Θ(N^-1)  as N → ∞'
    """
    sign = {"exact": "Θ", "at most": "O", "at least": "Ω"}[side]
    like = f"{letter}^{exponent:g}" if form == "power" else f"exp({exponent:g} {letter})"
    return f"{of} = {sign}({like})  as {letter} → ∞"


def _truncated(core: Plan, sizes: int) -> Plan:
    """The plan of the smallest sizes alone: what is used when the larger ones are below the floor."""
    if sizes == len(core.sizes):
        return core
    return replace(
        core,
        sizes=core.sizes[:sizes],
        sd=core.noise[:sizes],
        draws=core.planned_draws[:sizes],
        errors=core.given_errors[:sizes],
    )
