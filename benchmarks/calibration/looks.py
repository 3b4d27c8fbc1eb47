"""Draws that stop when they have decided: the levels over all looks, and how many draws a decision takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from benchmarks.calibration import engine
from benchmarks.calibration.cases import Case, Outcome, Procedure, Truth
from benchmarks.calibration.sweeps import MARGIN, POWERED, Design, lognormal, table
from theorax import decide
from theorax.decide.corrections import Corrections
from theorax.decide.rates import RatePlan

FAMILY = "looks"
DRAWS = 256


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
    whole = [replace(stage, levels=decide.Levels()) for stage in stages]

    def judge(values: np.ndarray) -> Outcome:
        for stage in whole:
            assert isinstance(stage.draws, int)
            said = engine.by(stage)(values[: stage.draws])
            if said.refuted or said.supported:
                break
        return replace(said, cost=float(stage.draws))

    return judge


@lru_cache
def cases() -> tuple[Case, ...]:
    """Powered sweeps of 256 draws, looked at after a quarter, a half and all of them, and one exact class."""
    found = []
    for name, corrections, correction, sizes, margin in (
        ("32 to 8192, + 0.6 (n/n0)^-1/2", Corrections(), lambda x: 0.6 * x**-0.5, POWERED.sizes, MARGIN),
        ("32 to 8192, clean", Corrections(), lambda x: 0 * x, POWERED.sizes, MARGIN),
        ("three sizes, no corrections", engine.EXACT, lambda x: 0 * x, np.array([16.0, 32.0, 64.0]), 0.04),
    ):
        plan = decide.plan_rate(
            sizes, exponent=-1, margin=margin, draws=DRAWS, seeds="paired", corrections=corrections, reading="exact"
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
