"""The engine's procedures as the calibration calls them: a plan made once, then one `Outcome` per table of data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.calibration.cases import LEVELS, Outcome
from theorax import decide
from theorax.decide import equivalence
from theorax.decide.binomial import outcomes_of
from theorax.decide.corrections import Corrections
from theorax.decide.inequalities import Excess, decide_inequality
from theorax.decide.moments import LightTails
from theorax.decide.planning import CONTRADICTED
from theorax.decide.probabilities import decide_probability, plan_probability
from theorax.decide.samples import Columns
from theorax.decide.status import Decision, Levels, Reason, Status
from theorax.decide.sweep_decisions import WeightedPlan

Judge = Callable[[Any], Outcome]

EXACT = Corrections(size=0, rest=0, reason="exact at every size")
_ANY_COUNT = LightTails(fewest=2)  # what Student's t does with few draws is measured too


def outcome(decision: Decision, sign: int = 1) -> Outcome:
    """Words and limits of a decision, the limits in the sign of the claim's own statement."""
    supported = decision.status is Status.SUPPORTED
    limits = (decision.lower, decision.upper) if sign > 0 else (-decision.upper, -decision.lower)
    return Outcome(
        refuted=decision.status is Status.REFUTED,
        supported=supported,
        excludes_margin=supported or decision.equivalent_within_margin,
        p_refute=decision.p_refute,
        p_support=decision.p_support,
        lower=limits[0],
        upper=limits[1],
        withheld=decision.reason is Reason.CLASS_REFUTED,
    )


def columns(table: Any) -> Columns:
    """A table ``draws x sizes``, or one array per size."""
    return Columns(tuple(table) if isinstance(table, list) else tuple(np.asarray(table, float).T))


def by(plan: WeightedPlan) -> Judge:
    """The decision of this plan."""
    sign = -1 if isinstance(plan, decide.RatePlan) else 1
    return lambda table: outcome(plan.tested(columns(table)).decision, sign)


def rate(sizes: Sequence[float], exponent: float = -1.0, margin: float = 0.1, draws: int = 32, sd: float = 0.2,
         seeds: str = "paired", reading: str = "exact", **others: Any) -> Judge:  # fmt: skip
    """Rates from a table ``draws x sizes`` of positive values."""
    return by(
        decide.plan_rate(
            sizes,
            exponent=exponent,
            margin=margin,
            draws=draws,
            sd=sd,
            seeds=seeds,
            levels=LEVELS,
            **others,
            reading=reading,
        )
    )


def robust_rate(sizes: Sequence[float], exponent: float, margin: float, draws: int) -> Judge:
    """Rates under the default class, a word counting only where it stands under the larger classes too."""
    plan = decide.plan_rate(
        sizes, exponent=exponent, margin=margin, draws=draws, seeds="paired", levels=LEVELS, reading="exact"
    )

    def judge(table: np.ndarray) -> Outcome:
        decision = plan.tested(columns(table)).decision
        said = outcome(decision, sign=-1)
        return said if decision.robust else replace(said, refuted=False, supported=False, p_refute=1.0, p_support=1.0)

    return judge


def alarm(sizes: Sequence[float], draws: int, corrections: Corrections | None = None) -> Judge:
    """The alarm that data contradict claimed form and class together: `refuted` counts it."""
    plan = decide.plan_rate(
        sizes,
        exponent=-1,
        margin=0.1,
        draws=draws,
        seeds="paired",
        levels=LEVELS,
        corrections=corrections or Corrections(),
        reading="exact",
    )
    return lambda table: Outcome(plan.tested(columns(table)).detail == CONTRADICTED, False)


def sequence(sizes: Sequence[float], margin: float, corrections: Corrections, **claimed: float) -> Judge:
    """The order or the limit of a sequence without randomness, from one value per size."""
    judge = by(
        decide.plan_sequence(sizes, margin=margin, corrections=corrections, levels=LEVELS, **claimed, reading="exact")
    )
    return lambda row: judge(np.asarray(row)[None])


def limit(sizes: Sequence[float], to: float, margin: float, draws: int, sd: float, seeds: str = "paired",
          reading: str = "exact", **others: Any) -> Judge:  # fmt: skip
    """Limits of means from a table ``draws x sizes``, or one array per size for independent draws."""
    return by(
        decide.plan_limit(
            sizes, to=to, margin=margin, draws=draws, sd=sd, seeds=seeds, levels=LEVELS, **others, reading=reading
        )
    )


def mean(
    to: float, margin: float, draws: int, declared: str, variance: float, levels: Levels = LEVELS,
    reading: str = "exact", side: str = "exact",
) -> Judge:  # fmt: skip
    """Means of one column, by the interval that belongs to what is declared; a range is that from zero to one."""
    moments: Any = {
        "Student's t": _ANY_COUNT,
        "Catoni": decide.BoundedVariance(variance),
        "betting": decide.Bounded(0, 1),
        "Clopper-Pearson": decide.TwoValues(),
    }[declared]
    plan = decide.plan_mean(
        to=to, margin=margin, draws=draws, moments=moments, sd=variance**0.5, levels=levels, reading=reading, side=side
    )
    return lambda values: outcome(plan.tested(Columns((values,))).decision)


def at_least(p0: float, margin: float, draws: int, levels: Levels = LEVELS, reading: str = "exact") -> Judge:
    """A probability of at least p0, from a fixed number of outcomes."""
    plan = plan_probability(at_least=p0, margin=margin, draws=draws, levels=levels, reading=reading)

    def judge(outcomes: np.ndarray) -> Outcome:
        sure, undecided, _ = outcomes_of(outcomes)
        return replace(outcome(decide_probability(plan, sure, undecided).decision), cost=float(draws))

    return judge


def median(to: float, margin: float, draws: int, reading: str = "exact") -> Judge:
    """Medians of one column of standard deviation one, by order statistics."""
    plan = decide.plan_quantile(to=to, margin=margin, draws=draws, sd=1.0, levels=LEVELS, reading=reading)
    return lambda values: outcome(plan.tested(Columns((values,))).decision)


def share_of_violations(share: float, draws: int, reading: str = "exact") -> Judge:
    """A bound in every row, from a column that is true where a row violates it."""
    plan = decide.plan_inequality(draws=draws, share=share, levels=LEVELS, reading=reading)

    def judge(violated: np.ndarray) -> Outcome:
        count = int(violated.sum())
        excess = Excess(draws - count, count, 1.0 if count else -1.0, "a row")
        return outcome(decide_inequality(plan, excess).decision)

    return judge


def over_cases(tables: Sequence[np.ndarray], to: float, margin: float, levels: Levels = LEVELS) -> Outcome:
    """One claim about the means of several cases, each decided with its share of the level of refutation."""
    shared, draws = levels.shared(len(tables)), len(tables[0])
    plan = decide.plan_mean(
        to=to, margin=margin, draws=draws, sd=1.0, moments=_ANY_COUNT, levels=shared, reading="exact"
    )
    return outcome(equivalence.combine([plan.tested(Columns((table,))).decision for table in tables], levels))
