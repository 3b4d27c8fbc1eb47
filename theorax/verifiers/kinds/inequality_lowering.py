"""Inequalities on random instances: a bound on how often they fail, and violations confirmed in ball arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

import flint
import numpy as np
from flint import arb, fmpq
from sympy import Expr

from theorax.decide.inequalities import Excess, InequalityPlan, decide_inequality
from theorax.decide.status import Levels, Reason, Side, Status
from theorax.decide.verdict import LOOSE, Point
from theorax.exact.decisions import decided
from theorax.language import Inequality, Measured
from theorax.numerics.arithmetics import Ball, UndecidedComparison, UnsupportedPrimitive
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.evaluation import Observed, evaluate, roundings
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.lowering import Judge, Judged, Prepared
from theorax.verifiers.kinds.over_boxes import is_certified, on_box

PRECISION = 256


@final
@dataclass(frozen=True)
class InequalityJudge(Judge[Inequality]):
    r"""Bounds in every draw.

    | excess over the bound, floats with their declared errors | ball of the excess in the worst draw | status |
    |---|---|---|
    | surely positive in some draw | positive | refuted, rigorously, by that instance |
    | at most the slack in every draw | | supported if there are enough draws |
    | otherwise | otherwise | inconclusive |

    The slack is the absolute margin, or zero. Without violation among N draws, "at least a share ``content`` of all
    draws violates it" is rejected with $p = (1 - \text{content})^N$: support of the bound for the law that was sampled,
    never for every instance. Floats alone refute nothing.
    """

    kind = Inequality
    counts_violations = True

    def prepare(self, claim: Inequality, cell: Cell, levels: Levels, original: Inequality) -> Prepared:
        line, content = cell.line, float(claim.content)
        plan = None
        if claim.observed and not claim.entrywise:
            count = len(line.sizes)
            plan = InequalityPlan(margin=content, draws=line.draws * count, sizes=count, levels=levels)
        return Prepared(cell, 0.0, content, 1.0, None, Side.AT_MOST, levels=levels, plan=plan)

    def judge(self, claim: Inequality, prepared: Prepared, observed: Observed) -> Judged:
        if claim.over:
            return _on_box(claim, prepared)
        return (_on_instances if observed.instances else _on_draws)(claim, prepared, observed)


def _on_box(claim: Inequality, prepared: Prepared) -> Judged:
    smaller, larger = _sides(claim)
    case = on_box(claim, smaller, larger, prepared)
    if claim.trivial is None or case.decision.status is not Status.SUPPORTED:
        return case
    low, high = (claim.trivial, claim.prediction) if claim.at_most is not None else (claim.prediction, claim.trivial)
    if not is_certified(low, high, claim.over):
        return case
    detail = f"the bound is nowhere sharper than the trivial one, {claim.trivial}: it says nothing"
    return replace(case, trivial=True, detail=detail)


def _on_draws(claim: Inequality, prepared: Prepared, observed: Observed) -> Judged:
    assert isinstance(prepared.plan, InequalityPlan)
    cell, sizes = prepared.cell, prepared.cell.line.sizes
    excess = claim.of - claim.prediction if claim.at_most is not None else claim.prediction - claim.of
    columns = [evaluate(excess, cell, observed, at) for at in range(len(sizes))]
    errors = [roundings(excess, cell, observed, at) for at in range(len(sizes))]
    slack = float(claim.margin.value) if claim.margin is not None else 0.0
    reached = np.concatenate([column + error for column, error in zip(columns, errors, strict=True)])
    # Floats alone refute nothing: a violation is sure where balls confirm it.
    counterexample = _counterexample(excess, cell, observed, columns, errors)
    found = Excess(int((reached <= slack).sum()), int(bool(counterexample)), float(reached.max()) - slack)
    tested = decide_inequality(prepared.plan, found)
    points = tuple(
        Point(float(size), float(np.max(column)), None, len(column))
        for size, column in zip(sizes, columns, strict=True)
    )
    tightness = _tightness(claim, cell, observed)
    unseen = list(tested.unseen)
    if tightness is not None and abs(tightness[1]) < LOOSE:
        unseen.append("LOOSE: what is bounded is mostly below a thousandth of the bound")
    status = tested.decision.status
    return Judged(
        prepared,
        tested.decision,
        points,
        tuple(unseen),
        rigorous=status is Status.REFUTED,
        detail=counterexample or tested.detail,
        trivial=_trivial_in_every_draw(claim, cell, observed),
        scope="the law sampled" if status is Status.SUPPORTED else "",
        tightness=tightness,
    )


def _on_instances(claim: Inequality, prepared: Prepared, observed: Observed) -> Judged:
    smaller, larger = _sides(claim)
    line, balls = prepared.cell.line, Ball(PRECISION)
    with flint.ctx.workprec(PRECISION):
        slack = arb(fmpq(*map(int, claim.margin.value.as_numer_denom()))) if claim.margin is not None else arb(0)
    nearest, places, undecided, detail, reason = -math.inf, 0, 0, "", Reason.UNDECIDED_COMPARISON
    status = Status.SUPPORTED
    shares: list[float] = []
    points: list[Point] = []
    for size in line.sizes:
        excesses: list[float] = []
        for draw in range(len(observed.instances[size])):
            try:
                left, right = (_balls(side, claim, prepared, observed, size, draw, balls) for side in (smaller, larger))
            except (UnsupportedPrimitive, UndecidedComparison) as error:
                status, detail = Status.INCONCLUSIVE, str(error).rstrip(".")
                reason = Reason.BUDGET if isinstance(error, UnsupportedPrimitive) else reason
                break
            with balls.working():
                gaps = np.asarray(balls.binary("sub", left, right), dtype=object).ravel().tolist()
                above = [gap for gap in gaps if gap > 0]
                undecided += sum(not gap <= slack for gap in gaps)
            places += len(gaps)
            excesses += [float(gap.mid()) for gap in gaps]
            shares += [float(x.mid()) / float(y.mid()) for x, y in _pairs(left, right) if float(y.mid()) != 0]
            if above:
                far = max(float(gap.mid()) for gap in above)
                status = Status.REFUTED
                where = f"instance {draw} at {line.swept} = {size}"
                detail = f"{where} exceeds the bound by {far:.3g}: a ball of the excess is positive"
                break
        points += [Point(float(size), max(excesses), None, len(excesses))] if excesses else []
        nearest = max([nearest, *excesses])
        if status is not Status.SUPPORTED:
            break
    if status is Status.SUPPORTED and (undecided or not places):
        status, detail = Status.INCONCLUSIVE, f"balls of {undecided} of {places} entries hold the bound"
    count = sum(map(len, observed.instances.values()))
    if status is Status.SUPPORTED:
        room = float(slack.mid()) - nearest
        detail = f"balls of {places} entries on {count} instances lie below the bound, the nearest by {room:.2g}"
    decision = decided(
        status,
        None if status is not Status.INCONCLUSIVE else reason,
        estimate=nearest,
        lower=-math.inf,
        upper=nearest,
        margin=float(slack.mid()),
        side=Side.AT_MOST,
        levels=prepared.levels,
    )
    return Judged(
        prepared,
        decision,
        tuple(points),
        ("instances outside the law sampled",),
        rigorous=status is not Status.INCONCLUSIVE,
        statistical=False,
        detail=detail,
        scope=f"the {count} instances built" if status is Status.SUPPORTED else "",
        tightness=tuple(map(float, np.quantile(shares, (0.05, 0.5, 0.95)))) if shares else None,  # type: ignore[arg-type]
    )


def _balls(
    side: Expr, claim: Inequality, prepared: Prepared, observed: Observed, size: int, draw: int, balls: Ball
) -> np.ndarray:
    """One side of the bound in balls; what the claim's letters are is run once for the claim and its variants."""
    place = ("letters", claim.observed, size, draw, balls)
    if place not in observed._evaluated:
        model, read = observed.instances[size][draw]
        observed._evaluated[place] = instances.letters(claim.observed, observed.observe, model, read, balls)
    return np.asarray(instances.on(side, prepared.cell, size, observed._evaluated[place], balls), dtype=object)


def _pairs(left: np.ndarray, right: np.ndarray) -> Iterator[tuple[arb, arb]]:
    return zip(*(side.ravel().tolist() for side in np.broadcast_arrays(left, right)), strict=True)


def _sides(claim: Inequality) -> tuple[Expr, Expr]:
    """The smaller side and the larger one, as claimed."""
    return (claim.of, claim.at_most) if claim.at_most is not None else (claim.at_least, claim.of)


def _tightness(claim: Inequality, cell: Cell, observed: Observed) -> tuple[float, float, float] | None:
    """Quantiles of the smaller side over the larger one in all draws; none where a larger side vanishes."""
    left, right = (
        np.concatenate([evaluate(side, cell, observed, at) for at in range(len(cell.line.sizes))])
        for side in _sides(claim)
    )
    if not np.all(right != 0):
        return None
    low, middle, high = np.quantile(left / right, (0.05, 0.5, 0.95))
    return float(low), float(middle), float(high)


def _trivial_in_every_draw(claim: Inequality, cell: Cell, observed: Observed) -> bool:
    """Whether the bound is nowhere sharper than the trivial one."""
    if claim.trivial is None:
        return False
    sharper = claim.trivial - claim.prediction if claim.at_most is not None else claim.prediction - claim.trivial
    return all(bool(np.all(evaluate(sharper, cell, observed, at) <= 0)) for at in range(len(cell.line.sizes)))


def _counterexample(
    excess: Expr, cell: Cell, observed: Observed, columns: list[np.ndarray], errors: list[np.ndarray]
) -> str:
    """What balls say of the draw that violates most, at the smallest size with a sure violation; nothing otherwise."""
    sure = [at for at, (column, error) in enumerate(zip(columns, errors, strict=True)) if (column > error).any()]
    if not sure or observed.model is None:
        return ""
    size, draw, balls = cell.line.sizes[sure[0]], int(np.argmax(columns[sure[0]] - errors[sure[0]])), Ball(PRECISION)
    wanted = frozenset(letter for letter in excess.free_symbols if isinstance(letter, Measured))
    place = ("letters", wanted, size, draw, balls)
    try:
        if place not in observed._evaluated:
            model, read = observed.model(size, draw)
            observed._evaluated[place] = instances.letters(wanted, observed.observe, model, read, balls)
        ball = instances.on(excess, cell, size, observed._evaluated[place], balls).item()
    except (UnsupportedPrimitive, UndecidedComparison):
        return ""
    if not ball > 0:
        return ""
    where = f"draw {draw} at {cell.line.swept} = {size}"
    return f"{where} exceeds the bound by {float(ball.mid()):.3g}: a ball of the excess is positive"
