"""One engine: a theorem's claim and the same numbers in `theorax.decide` come to the same status, interval and words."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sympy import Rational

from theorax import decide
from theorax.decide.equivalence import combine
from theorax.decide.status import DEFAULT_LEVELS, Reason, Status
from theorax.decide.verdict import Verdict
from theorax.language import (
    Absolute,
    Corrections,
    Experiment,
    Inequality,
    Law,
    Measured,
    Probability,
    Size,
    Subject,
    gaussian,
)
from theorax.numerics import platform
from theorax.numerics.sampler import Sampler
from theorax.verifiers import claim_verdicts
from theorax.verifiers.cases.measure import measure
from theorax.verifiers.cases.sweep_lines import sweep_lines
from theorax.verifiers.kinds import JUDGES, Judged
from theorax.verifiers.settings import Settings

n = Size("n", "width")
x = Measured("x", "a number given the variance, normal")
S = Measured("S", "its variance, near one")
u = Measured("u", "a uniform number")
v = Measured("v", "the same number, known up to a hundredth")
SIZES, DRAWS = (16, 32, 64, 128), 600
ALLOWED = Corrections(size=0.05, slowest=1, reason="moments expand in 1/n")


def build(key: Any, n: int) -> Any:
    hidden, last = jax.random.split(key)
    squares = jax.random.normal(hidden, (n,)) ** 2
    return squares.mean(), jax.random.normal(last), jax.random.uniform(last)


def observe(model: Any) -> dict[str, Any]:
    variance, last, uniform = model
    return dict(S=variance, x=jnp.sqrt(variance) * last, u=uniform, v=uniform, v_error=jnp.zeros(()) + 0.01)


@lru_cache(maxsize=1)
def drawn() -> Any:
    """A line and what was drawn on it: every claim below is asked of the same draws."""
    experiment = Experiment(
        subjects={"toy": Subject(build)}, observe=observe, measures=(x, S, u, v), sweep={n: SIZES}, draws=DRAWS
    )
    platform.enable()
    (line,) = sweep_lines("toy", experiment, Settings())
    return line, measure("a theorem", experiment, line, [line], 0, Sampler())


def column(name: str, at: int = 0) -> np.ndarray:
    """What was drawn of a letter at one size."""
    return np.asarray(drawn()[1].tables[at][name], float)


def judged(claim: Any) -> Judged:
    """The claim's first case, decided by the judge of its kind."""
    line, observed = drawn()
    judge = JUDGES[type(claim)]
    cell = next(iter(judge.cells(claim, line)))
    return judge.judge(claim, judge.prepare(claim, cell, DEFAULT_LEVELS, claim), observed)


def words(case: Judged) -> str:
    """The sentence that a theorem's report says of this case, without the name of its subject."""
    (found,) = claim_verdicts.findings([case], combine([case.decision]), settled=False)
    where = claim_verdicts.place(case.prepared.cell)
    return found.sentence.replace(f", for {where}", "").replace(f" ({where})", "").replace(f" for {where}", "")


def agree(case: Judged, verdict: Verdict, within: float = 0.0) -> None:
    """The whole of what both roads say; ``within`` bounds the rounding of numbers that they form in another order."""
    own = verdict.cases[0]
    assert (case.decision.status, case.decision.reason) == (verdict.status, own.reason)
    assert words(case) == verdict.sentence
    assert case.unseen == verdict.unseen
    assert (case.decision.lower, case.decision.upper) == pytest.approx(own.interval, abs=within)
    assert case.decision.estimate == pytest.approx(own.estimate, abs=within)
    assert (case.decision.p_support, case.decision.p_refute) == pytest.approx((own.p_support, own.p_refute), abs=within)
    assert (case.prepared.bias is None) == (own.bias is None)
    planned = (case.prepared.bias or 0.0, case.prepared.margin, case.prepared.noticeable)
    assert planned == pytest.approx((own.bias or 0.0, own.margin, own.noticeable), rel=1e-12)


# A distance of forty features below one, each from two characteristic functions: a few hundred units in the last place.
ROUNDED = 1e3 * 2.0**-52


@pytest.mark.parametrize(
    ("conditional", "wider", "status"),
    [
        (False, 1, Status.INCONCLUSIVE),
        (False, 3, Status.REFUTED),
        (True, 1, Status.SUPPORTED),
        (True, Rational(3, 2), Status.REFUTED),
    ],
)
def test_laws(conditional: bool, wider: Any, status: Status) -> None:
    to = decide.Normal(0, math.sqrt(wider))
    sd = 0.1 if conditional else to.noise(to.frequencies).sd
    claim = Law(
        x, gaussian(wider), as_=n, approach=ALLOWED, spread=sd, scale=to.scale, given=S if conditional else None
    )
    plan = decide.plan_law(
        SIZES, to=to, draws=DRAWS, sd=sd, seeds="independent", corrections=ALLOWED, conditional=conditional
    )
    case = judged(claim)
    assert case.decision.status is status
    assert case.prepared.half_width == pytest.approx(plan.half_width, rel=1e-9)  # both solved by one conic solver
    samples = [column("S" if conditional else "x", at) for at in range(len(SIZES))]
    agree(case, decide.law(plan, samples), ROUNDED)


def test_the_planned_width_of_single_values_needs_no_declared_noise() -> None:
    """What the claimed law says of the noise of single values is what a declared spread of as much says."""
    sd = decide.Normal().noise(decide.Normal().frequencies).sd
    given = {"draws": DRAWS, "seeds": "independent", "corrections": ALLOWED}
    assert decide.plan_law(SIZES, to=decide.Normal(), **given).half_width == pytest.approx(
        decide.plan_law(SIZES, to=decide.Normal(), sd=sd, **given).half_width
    )


TENTH = Absolute(1, 10, "a tenth matters")


@pytest.mark.parametrize(
    ("claimed", "margin", "status"),
    [
        (Rational(1, 2), TENTH, Status.SUPPORTED),
        (Rational(7, 10), TENTH, Status.REFUTED),
        (Rational(14, 25), Absolute(1, 20, "a twentieth matters"), Status.INCONCLUSIVE),
    ],
)
def test_probabilities(claimed: Any, margin: Absolute, status: Status) -> None:
    case = judged(Probability(u <= Rational(11, 20), at_least=claimed, margin=margin))
    assert case.decision.status is status
    plan = decide.plan_probability(at_least=float(claimed), margin=float(margin.value), draws=DRAWS)
    agree(case, decide.probability(plan, column("u") <= 0.55))


def test_probabilities_of_events_that_hang_on_rounding() -> None:
    case = judged(Probability(v <= Rational(11, 20), at_least=Rational(1, 2), margin=TENTH))
    plan = decide.plan_probability(at_least=0.5, margin=0.1, draws=DRAWS)
    distance = column("v") - 0.55
    outcomes = np.where(np.abs(distance) < 0.01, np.nan, (distance < 0).astype(float))
    assert np.isnan(outcomes).any()
    agree(case, decide.probability(plan, outcomes))


@pytest.mark.parametrize(
    ("bound", "content", "status", "reason"),
    [
        (Rational(11, 10), Rational(1, 50), Status.SUPPORTED, None),
        (Rational(11, 10), Rational(1, 1000), Status.INCONCLUSIVE, Reason.UNDERPOWERED),
        (1, Rational(1, 50), Status.INCONCLUSIVE, Reason.NUMERIC_FLOOR),
    ],
)
def test_bounds(bound: Any, content: Any, status: Status, reason: Reason | None) -> None:
    case = judged(Inequality(v, at_most=bound, content=content))
    assert (case.decision.status, case.decision.reason) == (status, reason)
    draws = DRAWS * len(SIZES)
    plan = decide.plan_inequality(draws=draws, share=float(content))
    left = np.concatenate([column("v", at) for at in range(len(SIZES))])
    # One float is subtracted from a column; the order of both operations is the same.
    agree(case, decide.inequality(plan, left, float(bound), errors=0.01), ROUNDED)
    assert case.prepared.weakness == replace(plan, sizes=len(SIZES)).weakness
    assert bool(case.prepared.weakness) == (reason is Reason.UNDERPOWERED)


def test_a_violation_refutes_by_a_ball_or_by_a_declared_error() -> None:
    case = judged(Inequality(u, at_most=Rational(1, 2)))
    verdict = decide.inequality(decide.plan_inequality(draws=4 * DRAWS), np.tile(column("u"), 4), 0.5)
    assert case.decision.status is verdict.status is Status.REFUTED
    assert case.rigorous and "ball" in case.detail
