"""Inequalities on random instances: a bound on how often they fail, and violations confirmed in ball arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, final

import numpy as np
from sympy import Expr, Integer

from theorax.decide.case_results import NothingEstimated, PlannedCase
from theorax.decide.inequalities import Excess, InequalityPlan, decide_inequality, tightness_of
from theorax.decide.kill_bounds import RefutingCount
from theorax.decide.plans import Planned, Tested
from theorax.decide.status import Levels, Side, Status
from theorax.decide.verdict import Point, Tightness
from theorax.exact.identity_ladder import Sides
from theorax.exact.pointwise_bounds import BALLS, bounded_at_points
from theorax.language import Inequality, Measured
from theorax.names import many
from theorax.numerics.arithmetics import Domain
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.distinct_instances import built_at
from theorax.verifiers.cases.evaluation import Observed, evaluate_draws, roundings
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.lowering import CellCase, CellResult, FloatTest, Judge, RoundingSeen, unbuilt
from theorax.verifiers.kinds.over_boxes import is_certified, on_box, rational_of


@final
@dataclass(frozen=True)
class InequalityJudge(Judge[Inequality]):
    r"""Bounds in every draw.

    | excess over the bound, floats with their declared errors | ball of the excess in one of these draws | status |
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
    fewest_of_one_run = 1

    def prepare(self, claim: Inequality, cell: Cell, levels: Levels, original: Inequality) -> CellCase:
        line, content = cell.line, float(claim.content)
        plan: Planned = NothingEstimated(margin=content, levels=levels)
        if claim.observed and not claim.entrywise:
            count = len(line.sizes)
            plan = InequalityPlan(margin=content, draws=line.draws * count, sizes=count, levels=levels)
        return PlannedCase(cell=cell, plan=plan, claimed=0.0, margin=content, side=Side.AT_MOST)

    def judge(self, claim: Inequality, case: CellCase, observed: Observed) -> CellResult:
        if claim.over:
            return _on_box(claim, case)
        return (_on_instances if observed.instances else _on_draws)(claim, case, observed)

    def compared(self, claim: Inequality) -> Sequence[Expr]:
        return [_excess(claim)]

    def kept_by_floats(self, claim: Inequality) -> Sequence[FloatTest]:
        return [FloatTest(*_sides(claim), _slack(claim), bound=True)] if claim.entrywise else []

    def stands(self, claim: Inequality, case: CellResult, observed: Observed, seen: RoundingSeen) -> bool:
        cell, excess = case.cell, _excess(claim)
        values = (evaluate_draws(excess, cell, observed, at) for at in range(len(cell.line.sizes)))
        return all(float(np.max(column)) + seen.allowed <= _slack(claim) for column in values)


def _excess(claim: Inequality) -> Expr:
    smaller, larger = _sides(claim)
    return smaller - larger


def _slack(claim: Inequality) -> float:
    return float(claim.margin.value) if claim.margin is not None else 0.0


def _on_box(claim: Inequality, case: CellCase) -> CellResult:
    smaller, larger = _sides(claim)
    case = on_box(claim, smaller, larger, case)
    if claim.trivial is None or case.decision.status is not Status.SUPPORTED:
        return case
    low, high = (claim.trivial, claim.prediction) if claim.at_most is not None else (claim.prediction, claim.trivial)
    if not is_certified(low, high, claim.over):
        return case
    detail = f"the bound is nowhere sharper than the trivial one, {claim.trivial}: it says nothing"
    return replace(case, trivial=True, detail=detail)


def _on_draws(claim: Inequality, case: CellCase, observed: Observed) -> CellResult:
    assert isinstance(case.plan, InequalityPlan)
    cell, sizes = case.cell, case.cell.line.sizes
    excess, slack = _excess(claim), _slack(claim)
    columns = [evaluate_draws(excess, cell, observed, at) for at in range(len(sizes))]
    errors = [roundings(excess, cell, observed, at) for at in range(len(sizes))]
    reached = np.concatenate([column + error for column, error in zip(columns, errors, strict=True)])
    # Floats alone refute nothing: a violation is sure where balls confirm it.
    counterexample = _counterexample(excess, cell, observed, columns, errors)
    found = Excess(int((reached <= slack).sum()), int(bool(counterexample)), float(reached.max()) - slack)
    tested = decide_inequality(case.plan, found)
    # Draw s may be the same draw at every size: what is counted is whether it exceeds the bound at any.
    exceeding = np.any(
        [
            np.broadcast_to(column + error > slack, observed.line.draws)
            for column, error in zip(columns, errors, strict=True)
        ],
        axis=0,
    )
    again = RefutingCount(int(exceeding.sum()), observed.line.draws, 0.0, case.levels.refute)
    points = tuple(
        Point(float(size), float(np.max(column)), None, len(column))
        for size, column in zip(sizes, columns, strict=True)
    )
    status = tested.decision.status
    found_at = Tested(replace(tested.decision, again=again), points, tested.unseen, counterexample or tested.detail)
    return replace(
        case.decided(found_at),
        rigorous=status is Status.REFUTED,
        trivial=_trivial_in_every_draw(claim, cell, observed),
        scope="the law sampled" if status is Status.SUPPORTED else "",
        tightness=partial(_tightness, claim, cell, observed),
    )


def _on_instances(claim: Inequality, case: CellCase, observed: Observed) -> CellResult:
    cell, line = case.cell, case.cell.line
    places = [(size, draw) for size in line.sizes for draw in range(len(observed.instances[size]))]
    slack = rational_of(claim.margin.value) if claim.margin is not None else Fraction(0)
    pair, wanted = _sides(claim), frozenset(claim.observed)
    found = bounded_at_points(
        [
            (f"instance {draw} at {line.swept} = {size}", partial(_at_draw, pair, wanted, cell, observed, size, draw))
            for size, draw in places
        ],
        slack,
    )
    certified = found.status is Status.CERTIFIED
    built = [built_at(observed, size) for size in line.sizes]
    distinct = sum(part.distinct for part in built)
    several = many(len(places), "instance")
    looked_at = several if distinct == len(places) else f"{many(distinct, 'distinct instance')} among the {len(places)}"
    copies = next((part.copies for part in built if part.copies), "") if certified and observed.line.random else ""
    by_size: dict[int, list[float]] = {}
    for (size, _), entries in zip(places, found.excesses, strict=False):  # up to the first that decides
        by_size.setdefault(size, []).append(max(entries))
    decision = found.decision(float(slack), case.levels)
    tested = Tested(
        replace(decision, status=Status.SUPPORTED) if certified else decision,
        tuple(Point(float(size), max(excess), None, len(excess)) for size, excess in by_size.items()),
        (unbuilt(case, observed, holds=certified),),
        found.detail + (f"; {copies}" if copies else ""),
    )
    return replace(
        case.decided(tested),
        rigorous=found.status is not Status.INCONCLUSIVE,
        statistical=False,
        scope=f"the {looked_at} built" if certified else "",
        tightness=lambda: tightness_of(found.shares, np.ones(len(found.shares))),
    )


def _at_draw(
    pair: tuple[Expr, Expr],
    wanted: frozenset[Measured],
    cell: Cell,
    observed: Observed,
    size: int,
    draw: int,
    domain: Domain[Any],
) -> Sides:
    """Two expressions on one draw in any arithmetic."""
    value = instances.at_draw(wanted, cell, observed, size, draw, domain)
    return [(value(pair[0]), value(pair[1]))]


def _sides(claim: Inequality) -> tuple[Expr, Expr]:
    """The smaller side and the larger one, as claimed."""
    return (claim.of, claim.at_most) if claim.at_most is not None else (claim.at_least, claim.of)


def _tightness(claim: Inequality, cell: Cell, observed: Observed) -> Tightness | None:
    """Quantiles of the smaller side over the larger one in all draws; none where a larger side vanishes."""
    left, right = (
        np.concatenate([evaluate_draws(side, cell, observed, at) for at in range(len(cell.line.sizes))])
        for side in _sides(claim)
    )
    return tightness_of(left, right)


def _trivial_in_every_draw(claim: Inequality, cell: Cell, observed: Observed) -> bool:
    """True if the bound is nowhere sharper than the trivial one."""
    if claim.trivial is None:
        return False
    sharper = claim.trivial - claim.prediction if claim.at_most is not None else claim.prediction - claim.trivial
    return all(bool(np.all(evaluate_draws(sharper, cell, observed, at) <= 0)) for at in range(len(cell.line.sizes)))


def _counterexample(
    excess: Expr, cell: Cell, observed: Observed, columns: list[np.ndarray], errors: list[np.ndarray]
) -> str:
    """Decision of balls on a draw that surely violates; nothing otherwise.

    One that was run in balls before, for the claim or for another variant of it, costs nothing: the worst of these comes
    first. Where there is none, or balls leave it open, it is the worst draw at the smallest size with a sure violation.
    """
    by_size = zip(cell.line.sizes, columns, errors, strict=True)
    sure = {size: gaps for size, column, error in by_size if ((gaps := column - error) > 0).any()}
    if not sure or observed.model is None:
        return ""
    wanted = frozenset(letter for letter in excess.free_symbols if isinstance(letter, Measured))
    smallest = next(iter(sure))
    places = [(smallest, int(np.argmax(sure[smallest])))]
    known = [
        (float(sure[size][draw]), size, draw)
        for size, draw in instances.followed(wanted, observed, BALLS)
        if size in sure and draw < len(sure[size]) and sure[size][draw] > 0
    ]
    if known:
        places.insert(0, max(known)[1:])
    for size, draw in places:
        at = partial(_at_draw, (excess, Integer(0)), wanted, cell, observed, size, draw)
        found = bounded_at_points([(f"draw {draw} at {cell.line.swept} = {size}", at)])
        if found.status is Status.REFUTED:
            return found.detail
    return ""
