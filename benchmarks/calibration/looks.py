"""Draws that stop when they have decided: the levels over all looks, and how many draws a decision takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator

from benchmarks.calibration import engine
from benchmarks.calibration.cases import LEVELS, Case, Outcome, Procedure, Truth
from benchmarks.calibration.laws import SIZES as LAW_SIZES
from benchmarks.calibration.laws import hidden, law_plans
from benchmarks.calibration.limits import NO_REST
from benchmarks.calibration.sweeps import MARGIN, POWERED, Design, lognormal, table
from theorax import decide
from theorax.decide.corrections import Corrections
from theorax.decide.law_features import features_of_conditional_variance
from theorax.decide.laws import decide_law
from theorax.decide.probabilities import decide_probability, plan_probability
from theorax.decide.rates import RatePlan
from theorax.decide.status import Decision
from theorax.decide.stopping import DEFAULT_SCHEDULE, at_look

FAMILY = "looks"
DRAWS = 256
LAW_DRAWS = 500


def _judge(plan: decide.LooksPlan) -> engine.Judge:
    def judge(values: np.ndarray) -> Outcome:
        return _said(decide.looks(plan, lambda first, count: values[first : first + count]))

    return judge


def _said(verdict: decide.Verdict) -> Outcome:
    (case,) = verdict.cases
    lower, upper = case.interval or (-math.inf, math.inf)
    assert verdict.p_refute is not None and verdict.p_support is not None and verdict.level is not None
    return Outcome(
        refuted=verdict.status == "REFUTED",
        supported=verdict.status == "SUPPORTED",
        # A verdict has one word; that the margin is excluded beside a refutation is read off its p-value.
        excludes_margin=verdict.p_support <= verdict.level,
        p_refute=verdict.p_refute,
        p_support=verdict.p_support,
        lower=-math.inf if lower is None else lower,
        upper=math.inf if upper is None else upper,
        cost=float(case.points[0].draws),
    )


def _peeking(stages: Sequence[RatePlan]) -> engine.Judge:
    """The whole level at every look."""
    whole = [replace(stage, levels=LEVELS) for stage in stages]

    def judge(values: np.ndarray) -> Outcome:
        for stage in whole:
            assert isinstance(stage.draws, int)
            said = engine.by(stage)(values[: stage.draws])
            if said.refuted or said.supported:
                break
        return replace(said, cost=float(stage.draws))

    return judge


Plan = decide.LimitPlan | decide.MeanPlan | decide.QuantilePlan | decide.ProbabilityPlan | decide.LawPlan
Stage = Callable[[Plan, Any], Decision]


def _at_looks(plan: Plan, decided: Stage, shares: Sequence[float] | None = None) -> engine.Judge:
    """The plan decided at the looks that a theorem's claim has; with ``shares`` at those of the level instead."""
    draws = plan.draws
    assert isinstance(draws, int)
    found = DEFAULT_SCHEDULE.looks(draws)
    stages = [
        (look, at_look(plan, replace(look, share=share), draws))
        for look, share in zip(found, shares or [look.share for look in found], strict=True)
    ]

    def judge(values: Any) -> Outcome:
        for look, stage in stages:
            part = [column[: look.draws] for column in values] if isinstance(values, list) else values[: look.draws]
            said = engine.outcome(decided(stage, part).charged(1.0 if shares else look.share))
            if said.refuted or said.supported or said.excludes_margin:
                break
        return replace(said, cost=float(look.draws))

    return judge


def _averages(plan: Any, values: Any) -> Decision:
    table = values[:, None] if isinstance(values, np.ndarray) and values.ndim == 1 else values
    found: Decision = plan.tested(engine.columns(table)).decision
    return found


def _counts(plan: Any, values: Any) -> Decision:
    return decide_probability(plan, int(values.sum())).decision


def _laws(plan: Any, values: Any) -> Decision:
    return decide_law(plan, [features_of_conditional_variance(x, plan.frequencies) for x in values]).decision


def _of_every_kind() -> list[Case]:
    """Kinds of claims besides rates, decided at looks, and with the whole level at every look."""
    n = tuple(16.0 * 2**i for i in range(5))
    limit = decide.plan_limit(
        n,
        to=0.0,
        margin=0.2,
        draws=DRAWS,
        sd=0.3,
        seeds="paired",
        levels=LEVELS,
        corrections=NO_REST,
        reading="exact",
    )
    mean = decide.plan_mean(to=0.0, margin=0.3, draws=400, sd=1.0, levels=LEVELS, reading="exact")
    median = decide.plan_quantile(to=0.0, margin=0.4, draws=400, sd=1.0, levels=LEVELS, reading="exact")
    event = plan_probability(at_least=0.9, margin=0.06, draws=800, levels=LEVELS, reading="exact")
    law = law_plans(LAW_DRAWS, conditional=True)["free 1/n"]
    rows: tuple[tuple[str, Any, Stage, tuple[tuple[Truth, Any, float | None, str], ...]], ...] = (
        ("limit, 16 to 256, + 0.4 (n/n0)^-1/2", limit, _averages, tuple(
            (kind, _sweep(n, to), to, f"limit {to:g}")
            for kind, to in ((Truth.HOLDS, 0.0), (Truth.MARGIN, 0.2), (Truth.MARGIN, -0.2))
        )),
        ("mean of normal numbers", mean, _averages, tuple(
            (kind, _normal(to, 400), to, f"mean {to:g}")
            for kind, to in ((Truth.HOLDS, 0.0), (Truth.MARGIN, 0.3), (Truth.FAR, 0.6))
        )),
        ("median of normal numbers", median, _averages, tuple(
            (kind, _normal(to, 400), to, f"median {to:g}") for kind, to in ((Truth.HOLDS, 0.0), (Truth.MARGIN, 0.4))
        )),
        ("P >= 0.9, margin 0.06", event, _counts, tuple(
            (kind, _events(p, 800), p, f"p = {p:g}")
            for kind, p in ((Truth.HOLDS, 0.9), (Truth.MARGIN, 0.84), (Truth.HOLDS, 0.96))
        )),
        ("law of a wide layer, free 1/n", law, _laws, (
            (Truth.HOLDS, _layers(1.0), None, "v = 1"),
            (Truth.MARGIN, _layers(1.1), None, "v = 1.1"),
        )),
    )  # fmt: skip
    found = []
    for name, plan, decided, truths in rows:
        procedures = (
            Procedure("after 1/4, 1/2 and all draws", _at_looks(plan, decided), True),
            Procedure("the whole level at every look", _at_looks(plan, decided, (1.0, 1.0, 1.0))),
        )
        found += [Case(FAMILY, name, kind, draw, procedures, value, detail) for kind, draw, value, detail in truths]
    return found


def _sweep(n: Sequence[float], limit: float) -> Callable[[Generator], np.ndarray]:
    middle = limit + 0.4 * (np.asarray(n) / n[0]) ** -0.5
    return lambda rng: middle + 0.3 * rng.standard_normal((DRAWS, len(n)))


def _normal(mean: float, draws: int) -> Callable[[Generator], np.ndarray]:
    return lambda rng: mean + rng.standard_normal(draws)


def _events(p: float, draws: int) -> Callable[[Generator], np.ndarray]:
    return lambda rng: rng.random(draws) < p


def _layers(variance: float) -> Callable[[Generator], list[np.ndarray]]:
    return lambda rng: [hidden(rng, n, LAW_DRAWS, variance) for n in LAW_SIZES]


@lru_cache
def cases() -> tuple[Case, ...]:
    """Powered sweeps of 256 draws, looked at after a quarter, a half and all of them, one exact class, other kinds."""
    found = _of_every_kind()
    for name, corrections, correction, sizes, margin in (
        ("32 to 8192, + 0.6 (n/n0)^-1/2", Corrections(), lambda x: 0.6 * x**-0.5, POWERED.sizes, MARGIN),
        ("32 to 8192, clean", Corrections(), lambda x: 0 * x, POWERED.sizes, MARGIN),
        ("three sizes, no corrections", engine.EXACT, lambda x: 0 * x, np.array([16.0, 32.0, 64.0]), 0.04),
    ):
        plan = decide.plan_rate(
            sizes,
            exponent=-1,
            margin=margin,
            draws=DRAWS,
            seeds="paired",
            levels=LEVELS,
            corrections=corrections,
            reading="exact",
        )
        looks, once = decide.plan_looks(plan), decide.plan_looks(plan, (1.0,), (1.0,))
        stages = [stage for stage in looks.stages if isinstance(stage, RatePlan)]
        design = Design(sizes[0], sizes[-1], DRAWS)
        for truth, kind in (
            (1.0, Truth.HOLDS),
            (1.0 - margin, Truth.MARGIN),
            (1.0 + margin, Truth.MARGIN),
            (0.75, Truth.FAR),
        ):
            procedures = (
                Procedure("after 1/4, 1/2 and all draws", _judge(looks), True),
                Procedure("all draws at once", _judge(once), True),
                Procedure("the whole level at every look", _peeking(stages)),
            )
            draw = table(design, truth, correction, lognormal(0.2))
            found.append(Case(FAMILY, name, kind, draw, procedures, -truth, f"n^-{truth:g}"))
    return tuple(found)
