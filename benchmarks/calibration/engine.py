"""The engine's procedures as the calibration calls them: a plan made once, then one `Outcome` per table of data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.calibration.cases import Outcome
from theorax.decide import bias_aware, equivalence, estimators, planning
from theorax.decide.binomial import outcomes_of
from theorax.decide.corrections import Corrections
from theorax.decide.designs import Plan, Policy, Target
from theorax.decide.interval import Interval
from theorax.decide.monitoring import Monitor
from theorax.decide.probabilities import decide_probability, plan_probability
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Refusal, Side, Status

Judge = Callable[[Any], Outcome]

_SIDES = {"exact": Side.EQUAL, "at most": Side.AT_LEAST, "at least": Side.AT_MOST}
_LIMIT_SIDES = {"exact": Side.EQUAL, "at most": Side.AT_MOST, "at least": Side.AT_LEAST}
EXACT = Corrections(size=0, rest=0, reason="exact at every size")


def outcome(decision: Decision, sign: int = 1) -> Outcome:
    """What a decision says, with limits in the sign of the claim's own statement."""
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
    )


UNDECIDED = Outcome(refuted=False, supported=False, p_refute=1.0, p_support=1.0)


def rate(
    sizes: Sequence[float],
    exponent: float = -1.0,
    margin: float = 0.1,
    draws: int = 32,
    sd: float = 0.2,
    seeds: str = "paired",
    side: str = "exact",
    form: str = "power",
    corrections: Corrections | None = None,
    floor: float = 0.0,
    average: str = "mean of log",
    levels: Levels = DEFAULT_LEVELS,
) -> Judge:
    """Rates from a table ``draws x sizes`` of positive values."""
    plan = Plan(
        tuple(sizes),
        Corrections() if corrections is None else corrections,
        Target.EXPONENT if form == "power" else Target.DECAY_RATE,
        sd=sd,
        draws=draws,
        policy=Policy.INDEPENDENT if seeds == "independent" else Policy.PAIRED,
        side=_SIDES[side],
        levels=levels,
    )
    truncations = range(3, len(plan.sizes) + 1) if floor else [len(plan.sizes)]
    designs = {kept: bias_aware.solve(replace(plan, sizes=plan.sizes[:kept])) for kept in truncations}

    def judge(table: np.ndarray) -> Outcome:
        kept, given = len(plan.sizes), 0.0
        if floor:
            try:
                kept, errors = estimators.above_floor(table.mean(axis=0), floor)
            except Refusal:
                return UNDECIDED
            given = float(np.abs(designs[kept].vector) @ errors)
        weights, part = designs[kept], table[:, :kept]
        total = weights.bias.total + given
        if average == "mean of log":
            values = np.log(part)
            interval = (
                estimators.independent(list(values.T), weights.vector, total)
                if plan.policy is Policy.INDEPENDENT
                else estimators.paired(values, weights.vector, total)
            )
        elif plan.policy is Policy.INDEPENDENT:
            interval = estimators.log_of_mean_independent(list(part.T), weights.vector, total)
        else:
            interval = estimators.log_of_mean(part, weights.vector, total)
        return outcome(equivalence.decide(interval, -exponent, margin, plan.side, levels), sign=-1)

    return judge


def robust_rate(sizes: Sequence[float], exponent: float, margin: float, draws: int) -> Judge:
    """Rates under the default class, a word counting only where it stands under the larger classes too."""
    plan = Plan(tuple(sizes), draws=draws, policy=Policy.PAIRED)

    def judge(table: np.ndarray) -> Outcome:
        logs = np.log(table)

        def estimated(weights: bias_aware.Weights) -> Interval:
            return estimators.paired(logs, weights.vector, weights.bias.total)

        decision = equivalence.decide(estimated(bias_aware.solve(plan)), -exponent, margin)
        said = outcome(decision, sign=-1)
        if equivalence.is_robust(decision, plan, estimated):
            return said
        return replace(said, refuted=False, supported=False, p_refute=1.0, p_support=1.0)

    return judge


def alarm(sizes: Sequence[float], draws: int, corrections: Corrections | None = None) -> Judge:
    """Whether the data contradict claimed form and class together: `refuted` counts alarms."""
    plan = Plan(tuple(sizes), corrections or Corrections(), draws=draws, policy=Policy.PAIRED)

    def judge(table: np.ndarray) -> Outcome:
        logs = np.log(table)
        return Outcome(planning.misfit(plan, lambda k, b: estimators.paired(logs, k, b)), False)

    return judge


def sequence(sizes: Sequence[float], exponent: float, margin: float, corrections: Corrections) -> Judge:
    """Rates of a sequence without randomness, from one positive value per size."""
    weights = bias_aware.solve(Plan(tuple(sizes), corrections, policy=Policy.DETERMINISTIC))

    def judge(row: np.ndarray) -> Outcome:
        interval = estimators.deterministic(np.log(row), weights.vector, weights.bias.total)
        return outcome(equivalence.decide(interval, -exponent, margin), sign=-1)

    return judge


def limit(
    sizes: Sequence[float],
    to: float,
    margin: float,
    draws: int,
    sd: float,
    seeds: str = "paired",
    side: str = "exact",
    corrections: Corrections | None = None,
    levels: Levels = DEFAULT_LEVELS,
) -> Judge:
    """Limits of means from a table ``draws x sizes``, or one array per size for independent draws."""
    policy = Policy.INDEPENDENT if seeds == "independent" else Policy.PAIRED
    of = _LIMIT_SIDES[side]
    weights = bias_aware.solve(
        Plan(tuple(sizes), corrections or Corrections(), Target.LIMIT, sd=sd, draws=draws, policy=policy, side=of)
    )

    def judge(table: Any) -> Outcome:
        if policy is Policy.INDEPENDENT:
            columns = table if isinstance(table, list) else list(np.asarray(table).T)
            interval = estimators.independent(columns, weights.vector, weights.bias.total)
        else:
            interval = estimators.paired(table, weights.vector, weights.bias.total)
        return outcome(equivalence.decide(interval, to, margin, of, levels))

    return judge


def mean(
    to: float, margin: float, draws: int, declared: str, variance: float, levels: Levels = DEFAULT_LEVELS
) -> Judge:
    """Means of one column, by the interval that belongs to what is declared; a range is that from zero to one."""
    interval = {
        "Student's t": estimators.paired,
        "Catoni": partial(estimators.catoni, variance=variance),
        "betting": partial(estimators.betting, low=0.0, high=1.0),
        "Clopper-Pearson": estimators.proportion,
    }[declared]

    def judge(values: np.ndarray) -> Outcome:
        try:
            made = interval(values)
        except Refusal:
            return UNDECIDED
        return outcome(equivalence.decide(made, to, margin, Side.EQUAL, levels))

    return judge


def at_least(p0: float, margin: float, draws: int, levels: Levels = DEFAULT_LEVELS) -> Judge:
    """A probability of at least p0, from a fixed number of outcomes."""
    plan = plan_probability(at_least=p0, margin=margin, draws=draws, levels=levels)

    def judge(outcomes: np.ndarray) -> Outcome:
        sure, undecided, _ = outcomes_of(outcomes)
        return replace(outcome(decide_probability(plan, sure, undecided).decision), cost=float(draws))

    return judge


def monitor(p0: float, margin: float, cap: int, truth: float, levels: Levels = DEFAULT_LEVELS) -> Judge:
    """A probability of at least p0, asked after every tenth draw until it is decided or the cap is reached.

    Its e-values are against both nulls; which of them is true depends on the truth.
    """
    start = Monitor(plan_probability(at_least=p0, margin=margin, draws=cap, levels=levels, every=10))

    def judge(outcomes: np.ndarray) -> Outcome:
        watched = start.add(outcomes)  # how outcomes are cut into batches changes nothing
        supporting, refuting = watched.e_values
        e = refuting if truth >= p0 else supporting if truth <= p0 - margin else np.nan
        return replace(outcome(watched.decision), cost=float(watched.draws), e=e)

    return judge


def over_cases(tables: Sequence[np.ndarray], to: float, margin: float, levels: Levels = DEFAULT_LEVELS) -> Outcome:
    """One claim about the means of several cases, each decided with its share of the level of refutation."""
    shared = levels.shared(len(tables))
    parts = [equivalence.decide(estimators.paired(table), to, margin, Side.EQUAL, shared) for table in tables]
    return outcome(equivalence.combine(parts, levels))
