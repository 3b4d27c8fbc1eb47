"""Both readings at their nulls: exactly as claimed, and off by just the margin, for every kind of claim with two readings.

An identity in exact arithmetic has the exact reading alone, and so no row here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator

from benchmarks.calibration import engine
from benchmarks.calibration.cases import LEVELS, Case, Outcome, Procedure, Published, Truth
from benchmarks.calibration.sweeps import doubling
from theorax import decide
from theorax.decide.law_features import features_of_samples
from theorax.decide.laws import decide_law

FAMILY = "readings"
SIZES = doubling(64, 1024)
NO_REST = decide.Corrections(size=0.1, slowest=1, rest=0, reason="a single power")
# The distance of a normal law of this standard deviation from the standard one is the margin of its plan.
WIDE = 1.5
LAW_DRAWS = 2000

Judge = Callable[[Any], Outcome]
Draw = Callable[[Generator], Any]


def _means(truth: float) -> Draw:
    return lambda rng: truth + rng.standard_normal(100)


def _limits(truth: float) -> Draw:
    mean = truth + 0.1 * (SIZES / SIZES[0]) ** -1.0
    return lambda rng: mean + 0.8 * rng.standard_normal((400, len(SIZES)))


def _rates(truth: float) -> Draw:
    mean = (SIZES / SIZES[0]) ** truth * (1 + 0.1 * (SIZES / SIZES[0]) ** -1.0)
    return lambda rng: mean * np.exp(0.2 * rng.standard_normal((64, len(SIZES))))


def _events(truth: float) -> Draw:
    return lambda rng: rng.random(400) < truth


def _laws(truth: float) -> Draw:
    return lambda rng: truth * rng.standard_normal(LAW_DRAWS)


def _law(reading: str) -> Judge:
    plan = decide.plan_law(
        to=decide.Normal(), excludes=[decide.Normal(0, WIDE)], draws=LAW_DRAWS, levels=LEVELS, reading=reading
    )
    return lambda values: engine.outcome(decide_law(plan, [features_of_samples(values, plan.frequencies)]).decision)


# Name, the procedure of a reading, data of a true value, the claimed value, those off it by just the margin.
KINDS: tuple[tuple[str, Callable[[str], Judge], Callable[[float], Draw], float, tuple[float, ...]], ...] = (
    ("mean = 0, margin 0.5, 100 draws",
     lambda reading: engine.mean(0.0, 0.5, 100, "Student's t", 1.0, reading=reading), _means, 0.0, (0.5, -0.5)),
    ("mean <= 0, margin 0.5, 100 draws",
     lambda reading: engine.mean(0.0, 0.5, 100, "Student's t", 1.0, reading=reading, side="at most"),
     _means, 0.0, (0.5,)),
    ("limit 0, margin 0.3, 64 to 1024",
     lambda reading: engine.limit(tuple(SIZES), 0.0, 0.3, 400, 0.8, "independent", corrections=NO_REST, reading=reading),
     _limits, 0.0, (0.3, -0.3)),
    ("rate -1, margin 0.2, 64 to 1024",
     lambda reading: engine.rate(tuple(SIZES), -1.0, 0.2, 64, corrections=NO_REST, reading=reading),
     _rates, -1.0, (-0.8, -1.2)),
    ("P >= 0.5, margin 0.1, 400 draws",
     lambda reading: engine.at_least(0.5, 0.1, 400, reading=reading), _events, 0.5, (0.4,)),
    ("median = 0, margin 0.5, 100 draws",
     lambda reading: engine.median(0.0, 0.5, 100, reading), _means, 0.0, (0.5, -0.5)),
    # The claim is that the share of violations is zero.
    ("a bound in every row, margin 0.05, 400 draws",
     lambda reading: engine.share_of_violations(0.05, 400, reading), _events, 0.0, (0.05,)),
    (f"normal law, margin at sd {WIDE:g}, {LAW_DRAWS} draws", _law, _laws, 1.0, (WIDE,)),
)  # fmt: skip


def _of_kind(name: str, judge: Callable[[str], Judge], draw: Callable[[float], Draw], claimed: float, ends: Any) -> Any:
    exact, with_margin = (
        Procedure(f"{reading} reading", judge(reading), True)
        for reading in (decide.Reading.EXACT, decide.Reading.MARGIN)
    )
    yield Case(FAMILY, name, Truth.HOLDS, draw(claimed), (exact, with_margin), detail="exactly as claimed")
    for end in ends:
        # Off by just the margin, the claim read with its margin holds, and false by the margin is what support rejects.
        told = f"true value {end:g}"
        alone = (with_margin,)
        yield Case(FAMILY, f"{name}, read with it", Truth.HOLDS, draw(end), alone, detail=told)
        yield Case(FAMILY, name, Truth.MARGIN, draw(end), (exact, with_margin), detail=told)


@lru_cache
def cases() -> tuple[Case, ...]:
    """Every case of both readings, and one beyond the margin that either must see."""
    beyond = tuple(
        Procedure(f"{reading} reading", judge(reading), published=Published(0.9), promised=True)
        for reading, judge in ((reading, KINDS[0][1]) for reading in (decide.Reading.EXACT, decide.Reading.MARGIN))
    )
    far = Case(FAMILY, KINDS[0][0], Truth.FAR, _means(1.0), beyond, detail="true value 1, beyond the margin")
    return (*(case for kind in KINDS for case in _of_kind(*kind)), far)
