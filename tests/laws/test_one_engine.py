"""One engine: a theorem's claim and the same numbers in `theorax.decide` come to the same status, interval and words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sympy import Rational, sympify

from theorax import decide
from theorax.decide.equivalence import combine
from theorax.decide.samples import Columns
from theorax.decide.status import DEFAULT_LEVELS, Reason, Status
from theorax.decide.verdict import Verdict
from theorax.language import (
    Absolute,
    Bounded,
    BoundedVariance,
    Claim,
    Corrections,
    Expectation,
    Experiment,
    Inequality,
    Law,
    Limit,
    Measured,
    Probability,
    Rate,
    Size,
    Subject,
    gaussian,
)
from theorax.numerics import platform
from theorax.numerics.sampler import Sampler
from theorax.verifiers import claim_verdicts
from theorax.verifiers.cases.measure import measure
from theorax.verifiers.cases.sweep_lines import sweep_lines
from theorax.verifiers.kinds import JUDGES, CellResult
from theorax.verifiers.settings import Settings

n = Size("n", "width")
x = Measured("x", "a number given the variance, normal")
S = Measured("S", "its variance, near one")
u = Measured("u", "a uniform number")
v = Measured("v", "the same number, known up to a hundredth")
SIZES, DRAWS = (16, 33, 64, 128), 600
ALLOWED = Corrections(size=0.05, slowest=1, reason="moments expand in 1/n")


def build(key: Any, n: int) -> Any:
    hidden, last, other = jax.random.split(key, 3)
    squares = jax.random.normal(hidden, (n,)) ** 2
    return squares.mean(), jax.random.normal(last), jax.random.uniform(other)


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


def judged(claim: Claim, source: Callable[[], Any] = drawn) -> CellResult:
    """The claim's first case, decided by the judge of its kind."""
    line, observed = source()
    judge = JUDGES[type(claim)]
    cell = next(iter(judge.cells(claim, line)))
    return judge.judge(claim, judge.prepare(claim, cell, DEFAULT_LEVELS, claim), observed)


def words(case: CellResult) -> str:
    """The sentence that a theorem's report says of this case, without the name of its subject."""
    (found,) = claim_verdicts.decided_findings([case], combine([case.decision]), settled=False)
    where = claim_verdicts.cell_name(case.cell)
    return (
        f"{found.within} {found.sentence}".strip()
        .replace(f", for {where}", "")
        .replace(f" ({where})", "")
        .replace(f" for {where}", "")
    )


def agree(case: CellResult, verdict: Verdict, within: float = 0.0) -> None:
    """The whole of what both roads say; ``within`` bounds the rounding of numbers that they form in another order."""
    own = verdict.cases[0]
    assert (case.decision.status, case.decision.reason) == (verdict.status, own.reason)
    assert words(case) == verdict.sentence
    assert case.unseen == verdict.unseen
    sign, decision = case.sign, case.decision
    if math.isfinite(decision.estimate):
        ends = sorted((sign * decision.lower, sign * decision.upper))
        assert ends == pytest.approx(own.interval, abs=within)
        assert sign * decision.estimate == pytest.approx(own.estimate, abs=within)
    assert (case.decision.p_support, case.decision.p_refute) == pytest.approx((own.p_support, own.p_refute), abs=within)
    assert (case.bias is None) == (own.bias is None)
    planned = (case.bias or 0.0, case.margin, case.noticeable)
    assert planned == pytest.approx((own.bias or 0.0, own.margin, own.noticeable), rel=1e-12)


# A distance of forty features below one, each from two characteristic functions: a few hundred units in the last place.
ROUNDED = 1e3 * 2.0**-52


@pytest.mark.parametrize(
    ("conditional", "wider", "status"),
    [
        (False, 1, Status.SUPPORTED),
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
        SIZES,
        to=to,
        draws=DRAWS,
        sd=sd,
        seeds="independent",
        corrections=ALLOWED,
        conditional=conditional,
        reading="exact",
    )
    case = judged(claim)
    assert case.decision.status is status
    assert case.half_width == pytest.approx(plan.half_width, rel=1e-9)  # both solved by one conic solver
    samples = [column("S" if conditional else "x", at) for at in range(len(SIZES))]
    agree(case, decide.law(plan, samples), ROUNDED)


def test_the_planned_width_of_single_values_needs_no_declared_noise() -> None:
    """What the claimed law says of the noise of single values is what a declared spread of as much says."""
    sd = decide.Normal().noise(decide.Normal().frequencies).sd
    given = {"draws": DRAWS, "seeds": "independent", "corrections": ALLOWED}
    assert decide.plan_law(SIZES, to=decide.Normal(), **given, reading="exact").half_width == pytest.approx(
        decide.plan_law(SIZES, to=decide.Normal(), sd=sd, **given, reading="exact").half_width
    )


TENTH = Absolute(1, 10, "a tenth matters")


@pytest.mark.parametrize(
    ("claimed", "margin", "status"),
    [
        (Rational(1, 2), TENTH, Status.SUPPORTED),
        (Rational(7, 10), TENTH, Status.REFUTED),
        (Rational(14, 25), Absolute(1, 50, "narrower than these draws can see"), Status.INCONCLUSIVE),
    ],
)
def test_probabilities(claimed: Any, margin: Absolute, status: Status) -> None:
    case = judged(Probability(u <= Rational(11, 20), at_least=claimed, margin=margin))
    assert case.decision.status is status
    plan = decide.plan_probability(at_least=float(claimed), margin=float(margin.value), draws=DRAWS, reading="exact")
    agree(case, decide.probability(plan, column("u") <= 0.55))


def test_probabilities_of_events_that_hang_on_rounding() -> None:
    case = judged(Probability(v <= Rational(11, 20), at_least=Rational(1, 2), margin=TENTH))
    plan = decide.plan_probability(at_least=0.5, margin=0.1, draws=DRAWS, reading="exact")
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
    plan = decide.plan_inequality(draws=draws, share=float(content), reading="exact")
    left = np.concatenate([column("v", at) for at in range(len(SIZES))])
    # One float is subtracted from a column; the order of both operations is the same.
    agree(case, decide.inequality(plan, left, float(bound), errors=0.01), ROUNDED)
    assert case.weakness == replace(plan, sizes=len(SIZES)).weakness
    assert bool(case.weakness) == (reason is Reason.UNDERPOWERED)


def test_a_violation_refutes_by_a_ball_or_by_a_declared_error() -> None:
    case = judged(Inequality(u, at_most=Rational(1, 2)))
    verdict = decide.inequality(decide.plan_inequality(draws=4 * DRAWS, reading="exact"), np.tile(column("u"), 4), 0.5)
    assert case.decision.status is verdict.status is Status.REFUTED
    assert case.rigorous and "ball" in case.detail


@pytest.mark.parametrize(
    ("claimed", "status"),
    [("exact", Status.REFUTED), ("margin", Status.SUPPORTED)],
)
def test_readings(claimed: Any, status: Status) -> None:
    """Off the claim and inside the margin: one reading refutes, the other supports, and both roads say so."""
    read: dict[str, Any] = {"reading": claimed}
    mean = judged(Expectation(u, Rational(14, 25), spread=Rational(3, 5), margin=TENTH, **read))
    plan = decide.plan_mean(to=0.56, margin=0.1, draws=DRAWS, sd=0.6 * 0.56, **read)
    event = judged(Probability(u <= Rational(17, 20), at_least=Rational(9, 10), margin=TENTH, **read))
    events = decide.plan_probability(at_least=0.9, margin=0.1, draws=DRAWS, **read)
    limit = judged(
        Limit(S, Rational(11, 10), as_=n, approach=ALLOWED, spread=Rational(1, 5), margin=Absolute(1, 4, "so"), **read)
    )
    limits = decide.plan_limit(
        SIZES, to=1.1, margin=0.25, draws=DRAWS, sd=1.1 / 5, seeds="independent", corrections=ALLOWED, **read
    )
    for case, verdict in (
        (mean, decide.mean(plan, column("u"))),
        (event, decide.probability(events, column("u") <= 0.85)),
        (limit, decide.limit(limits, table("S"))),
    ):
        assert case.decision.status is status
        assert case.decision.equivalent_within_margin and verdict.within_margin
        agree(case, verdict)


def table(name: str) -> np.ndarray:
    """What was drawn of a letter at every size."""
    return np.stack([column(name, at) for at in range(len(SIZES))], axis=1)


@pytest.mark.parametrize(
    ("to", "margin", "moments", "status", "reason"),
    [
        (1, TENTH, "light tails", Status.SUPPORTED, None),
        (Rational(6, 5), TENTH, "light tails", Status.REFUTED, None),
        (
            Rational(201, 200),
            Absolute(1, 200, "narrower than the class of corrections"),
            "light tails",
            Status.INCONCLUSIVE,
            Reason.CLASS_BIAS,
        ),
        (1, Absolute(1, 2, "a half matters"), BoundedVariance(Rational(1, 8)), Status.SUPPORTED, None),
        (2, TENTH, Bounded(0, 6), Status.REFUTED, None),
    ],
)
def test_limits(to: Any, margin: Absolute, moments: Any, status: Status, reason: Reason | None) -> None:
    claim = Limit(S, to, as_=n, approach=ALLOWED, spread=Rational(1, 5), moments=moments, margin=margin)
    case = judged(claim)
    assert (case.decision.status, case.decision.reason) == (status, reason)
    numbers = moments if isinstance(moments, str) else moments.lowered(lambda end: (float(end),) * len(SIZES))
    plan = decide.plan_limit(
        SIZES,
        to=float(to),
        margin=float(margin.value),
        draws=DRAWS,
        sd=float(to) / 5,
        seeds="independent",
        corrections=ALLOWED,
        moments=numbers,
        reading="exact",
    )
    agree(case, decide.limit(plan, table("S")))


@pytest.mark.parametrize(
    ("of", "equals", "moments", "status"),
    [
        ("u", Rational(1, 2), "light tails", Status.SUPPORTED),
        ("u", Rational(1, 2), Bounded(0, 1), Status.SUPPORTED),
        ("u", Rational(7, 10), Bounded(0, 1), Status.REFUTED),
        ("S", 1, BoundedVariance(2 / n), Status.SUPPORTED),
        ("v", Rational(1, 2), Bounded(0, 1), Status.SUPPORTED),  # known up to a hundredth
        ("u", Rational(31, 50), "light tails", Status.REFUTED),
    ],
)
def test_means(of: str, equals: Any, moments: Any, status: Status) -> None:
    letter = {"u": u, "S": S, "v": v}[of]
    case = judged(Expectation(letter, equals, moments=moments, spread=Rational(3, 5), margin=TENTH))
    assert case.decision.status is status
    lowered = moments if isinstance(moments, str) else moments.lowered(lambda end: (float(sympify(end).subs(n, 16)),))
    plan = decide.plan_mean(
        to=float(equals), margin=0.1, draws=DRAWS, sd=0.6 * float(equals), moments=lowered, reading="exact"
    )
    values = Columns((column(of),), (np.full(DRAWS, 0.01),)) if of == "v" else column(of)
    if of == "v":
        assert plan.tested(values).decision == case.decision
    else:
        agree(case, decide.mean(plan, values))


@pytest.mark.parametrize(("claimed", "status"), [(Rational(1, 2), Status.SUPPORTED), (Rational(4, 5), Status.REFUTED)])
def test_quantiles(claimed: Any, status: Status) -> None:
    case = judged(Expectation(u, claimed, quantile=Rational(1, 2), spread=Rational(3, 5), margin=TENTH))
    assert case.decision.status is status
    plan = decide.plan_quantile(to=float(claimed), margin=0.1, draws=DRAWS, sd=0.6 * float(claimed), reading="exact")
    agree(case, decide.quantile(plan, column("u")))


@pytest.mark.parametrize("average", ["mean of log", "log of mean"])
@pytest.mark.parametrize(
    ("exponent", "side", "status"),
    [
        (-1, "exact", Status.SUPPORTED),
        (-1, "at most", Status.SUPPORTED),
        (Rational(-3, 2), "exact", Status.REFUTED),
        (Rational(-3, 2), "at least", Status.SUPPORTED),
        (Rational(-1, 2), "at least", Status.REFUTED),
    ],
)
def test_rates(exponent: Any, side: Any, status: Status, average: Any) -> None:
    margin = Absolute(3, 10, "three tenths matter")
    allowed = Corrections(size=0.1, slowest=1, reason="E log S is near -1/n, a sixteenth at the smallest size")
    claim = Rate(S / n, n**exponent, as_=n, approach=allowed, side=side, average=average, margin=margin)
    case = judged(claim)
    assert case.decision.status is status
    plan = decide.plan_rate(
        SIZES,
        exponent=float(exponent),
        margin=0.3,
        draws=DRAWS,
        sd=float(claim.spread),
        seeds="independent",
        side=side,
        average=average,
        corrections=allowed,
        reading="exact",
    )
    # A quotient rounded otherwise moves an entry by 2^-52 of itself, its logarithm by as much, and the exponent, whose weights
    # add up to less than two, by 2^-51: the interval and the probabilities by less than 2^-45.
    agree(case, decide.rate(plan, table("S") / np.array(SIZES)), within=2.0**-45)


q = Measured("q", "a value without randomness, like one over n")
q_sizes = (8, 16, 33, 64, 128, 256)
SMOOTH = Corrections(size=0, rest=0.6, order=2, free=(1,), reason="a smooth expansion in 1/n")


@lru_cache(maxsize=1)
def followed() -> Any:
    """The same for what holds no randomness."""
    experiment = Experiment(
        subjects={"toy": Subject(lambda key, n: n)},
        observe=lambda n: dict(q=(1 + 2.0 / n) / n),
        measures=(q,),
        sweep={n: q_sizes},
        seeds="none",
    )
    platform.enable()
    (line,) = sweep_lines("sequence", experiment, Settings())
    return line, measure("a theorem", experiment, line, [line], 0, Sampler())


@pytest.mark.parametrize(
    ("claimed", "status"),
    [
        ({"exponent": -1}, Status.SUPPORTED),
        ({"exponent": -2}, Status.REFUTED),
        ({"exponent": -1, "rival": (-3, 0)}, Status.INCONCLUSIVE),
        ({"to": 0}, Status.SUPPORTED),
        ({"to": 1}, Status.REFUTED),
    ],
)
def test_sequences(claimed: dict[str, Any], status: Status) -> None:
    given = {"as_": n, "approach": SMOOTH, "margin": TENTH}
    claim: Claim
    if "to" in claimed:
        claim = Limit(q, claimed["to"], **given)
        plan = decide.plan_sequence(q_sizes, to=float(claimed["to"]), margin=0.1, corrections=SMOOTH, reading="exact")
    else:
        claim = Rate(q, n ** claimed["exponent"], rules_out=claimed.get("rival"), **given)
        plan = decide.plan_sequence(
            q_sizes, exponent=float(claimed["exponent"]), margin=0.1, corrections=SMOOTH, reading="exact"
        )
        plan = replace(plan, rival=claimed.get("rival"))
    case = judged(claim, followed)
    assert case.decision.status is status
    assert not case.statistical
    agree(case, decide.sequence(plan, [float(followed()[1].tables[at]["q"][0]) for at in range(len(q_sizes))]))
