"""The public face, `theorax.decide`, behind the same functions as `engine`, and its rows: what users run is measured too."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from benchmarks.calibration import deterministic, events, limits, means, rates
from benchmarks.calibration.cases import Case, Outcome, Procedure
from theorax import decide
from theorax.decide.verdict import Verdict

Judge = Callable[[Any], Outcome]

FAMILY = "own numbers"


def outcome(verdict: Verdict, support: float) -> Outcome:
    """What a verdict says."""
    (case,) = verdict.cases
    lower, upper = case.interval or (float("-inf"), float("inf"))
    p_refute, p_support = verdict.p_refute, verdict.p_support
    withheld = verdict.reason == "class_refuted"
    return Outcome(
        refuted=verdict.status == "REFUTED",
        supported=verdict.status == "SUPPORTED",
        # A verdict has one word; that the margin is excluded beside a refutation is read off its p-value.
        excludes_margin=p_support is not None and p_support <= support and not withheld,
        p_refute=1.0 if p_refute is None else p_refute,
        p_support=1.0 if p_support is None else p_support,
        lower=lower,
        upper=upper,
        withheld=withheld,
    )


def rate(sizes: Sequence[float], exponent: float = -1.0, margin: float = 0.1, draws: int = 32, sd: float = 0.2,
         seeds: str = "paired", **others: Any) -> Judge:  # fmt: skip
    """Rates by `decide.plan_rate` and `decide.rate`."""
    plan = decide.plan_rate(sizes, exponent=exponent, margin=margin, draws=draws, sd=sd, seeds=seeds, **others)
    return lambda table: outcome(decide.rate(plan, table), plan.rates.levels.support)


def sequence(sizes: Sequence[float], exponent: float, margin: float, corrections: decide.Corrections) -> Judge:
    """Sequences by `decide.plan_sequence` and `decide.sequence`."""
    plan = decide.plan_sequence(sizes, exponent=exponent, margin=margin, corrections=corrections)
    return lambda row: outcome(decide.sequence(plan, row), plan.levels.support)


def limit(sizes: Sequence[float], to: float, margin: float, draws: int, sd: float, seeds: str = "paired",
          **others: Any) -> Judge:  # fmt: skip
    """Limits by `decide.plan_limit` and `decide.limit`."""
    plan = decide.plan_limit(sizes, to=to, margin=margin, draws=draws, sd=sd, seeds=seeds, **others)
    return lambda table: outcome(decide.limit(plan, table), plan.levels.support)


def mean(to: float, margin: float, draws: int, declared: str, variance: float, levels: decide.Levels) -> Judge | None:
    """Means by `decide.plan_mean` and `decide.mean`; None where the face refuses."""
    if declared == "Student's t" and draws < 30:  # too few to assert anything of tails
        return None
    moments: Any = {
        "Student's t": "light tails",
        "Catoni": decide.BoundedVariance(variance),
        "betting": decide.Bounded(0.0, 1.0),
        "Clopper-Pearson": decide.TwoValues(0.0, 1.0),
    }[declared]
    sd = variance**0.5
    plan = decide.plan_mean(to=to, margin=margin, draws=draws, moments=moments, sd=sd, levels=levels)
    return lambda values: outcome(decide.mean(plan, values), levels.support)


def at_least(p0: float, margin: float, draws: int) -> Judge:
    """Probabilities by `decide.plan_probability` and `decide.probability`."""
    plan = decide.plan_probability(at_least=p0, margin=margin, draws=draws)
    return lambda outcomes: outcome(decide.probability(plan, outcomes), plan.levels.support)


def monitor(p0: float, margin: float, cap: int, truth: float) -> Judge:
    """Watched probabilities by `decide.monitor`, asked after every tenth draw."""
    plan = decide.plan_probability(at_least=p0, margin=margin, draws=cap, every=10)
    return lambda outcomes: outcome(decide.monitor(plan).add(outcomes), plan.levels.support)


@lru_cache
def cases() -> tuple[Case, ...]:
    """The promised rows of every family that the face decides, on the same data as there."""
    here = sys.modules[__name__]
    found = []
    for of in (rates, deterministic, limits, events, means):
        for case in of.cases(here):
            own = tuple(
                procedure for procedure in case.procedures if procedure.promised and _is_decided(case, procedure)
            )
            if own:
                dear = of in (events, means)
                found.append(replace(case, procedures=own, replicates=300 if dear else case.replicates))
    return tuple(found)


def _is_decided(case: Case, procedure: Procedure) -> bool:
    """A sweep has three sizes, and a plan one case."""
    return procedure.promised and not case.name.startswith(("four cases", "values on the boundary"))
