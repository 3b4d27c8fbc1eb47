"""Draws that stop when they have decided: the levels over all looks, and how many draws a decision takes."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from benchmarks.calibration import engine
from benchmarks.calibration.cases import Case, Outcome, Procedure, Truth
from benchmarks.calibration.sweeps import MARGIN, POWERED, Design, lognormal, table
from theorax.decide import equivalence, estimators, sequential
from theorax.decide.corrections import Corrections
from theorax.decide.designs import Plan, Policy
from theorax.decide.status import Decision

FAMILY = "looks"
DRAWS = 256


def _plan(sizes: np.ndarray, corrections: Corrections) -> Plan:
    return Plan(tuple(sizes), corrections, draws=DRAWS, policy=Policy.PAIRED)


def _judge(plan: Plan, looks: sequential.Looks, margin: float) -> engine.Judge:
    def judge(values: np.ndarray) -> Outcome:
        logs = np.log(values)

        def at(number: int) -> Decision:
            look, weights = looks.looks[number], looks.weights[number]
            interval = estimators.paired(logs[: look.draws], weights.vector, weights.bias.total)
            return equivalence.decide(interval, 1.0, margin, plan.side, look.levels)

        stopped = sequential.sequentially(looks, at)
        return replace(engine.outcome(stopped.decision, sign=-1), cost=float(stopped.draws))

    return judge


def _peeking(plan: Plan, looks: sequential.Looks, margin: float) -> engine.Judge:
    """The whole level at every look."""
    full = replace(looks, looks=tuple(replace(look, levels=plan.levels) for look in looks.looks))
    return _judge(plan, full, margin)


@lru_cache
def cases() -> tuple[Case, ...]:
    """Powered sweeps of 256 draws, looked at after a quarter, a half and all of them, and one exact class."""
    found = []
    for name, corrections, correction, sizes, margin in (
        ("32 to 8192, + 0.6 (n/n0)^-1/2", Corrections(), lambda x: 0.6 * x**-0.5, POWERED.sizes, MARGIN),
        ("32 to 8192, clean", Corrections(), lambda x: 0 * x, POWERED.sizes, MARGIN),
        ("three sizes, no corrections", engine.EXACT, lambda x: 0 * x, np.array([16.0, 32.0, 64.0]), 0.04),
    ):
        plan = _plan(sizes, corrections)
        looks = sequential.plan_looks(plan)
        once = sequential.plan_looks(plan, sequential.Schedule((1.0,), (1.0,)))
        design = Design(sizes[0], sizes[-1], DRAWS)
        for truth, kind in (
            (1.0, Truth.HOLDS),
            (1.0 - margin, Truth.MARGIN),
            (1.0 + margin, Truth.MARGIN),
            (0.75, Truth.FAR),
        ):
            procedures = (
                Procedure("after 1/4, 1/2 and all draws", _judge(plan, looks, margin), True),
                Procedure("all draws at once", _judge(plan, once, margin), True),
                Procedure("the whole level at every look", _peeking(plan, looks, margin)),
            )
            draw = table(design, truth, correction, lognormal(0.2))
            found.append(Case(FAMILY, name, kind, draw, procedures, -truth, f"n^-{truth:g}"))
    return tuple(found)
