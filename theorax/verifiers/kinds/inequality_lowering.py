"""Inequalities on random instances: a bound on how often they fail, and violations confirmed in ball arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, final

import numpy as np
from sympy import Expr, Integer

from theorax.decide.case_results import NothingEstimated, PlannedCase
from theorax.decide.inequalities import Excess, InequalityPlan, InstancesPlan, decide_inequality, tightness_of
from theorax.decide.kill_bounds import RefutingCount
from theorax.decide.plans import Planned, Tested
from theorax.decide.status import Levels, Side, Status
from theorax.decide.verdict import Point, Tightness
from theorax.exact.identity_ladder import Sides
from theorax.exact.pointwise_bounds import BALLS, PointwiseBound, bounded_at_points
from theorax.language import Inequality, Measured
from theorax.names import many
from theorax.numerics.arithmetics import Domain
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.distinct_instances import built_at
from theorax.verifiers.cases.evaluation import Observed, evaluate_draws, roundings
from theorax.verifiers.cases.returned_floats import FloatTest
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.lowering import (
    SAFETY,
    CellCase,
    CellResult,
    Judge,
    RoundingSeen,
    drawn_decision,
    instances_plan,
    is_enumerated,
    left_open,
    looked_at_text,
    open_in_floats,
    unbuilt,
    with_enough,
)
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
        elif claim.entrywise and line.random:
            plan = instances_plan(float(claim.content_on_instances), line, levels)
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
    built_first = observed.line.draws
    found, kept = _bounded(claim, case, observed, range(built_first)), 0
    enumerated = is_enumerated(claim, case.cell.line, observed)
    if found.status is Status.CERTIFIED and not enumerated:
        case, observed = with_enough(case, observed)
        if observed.line.draws > built_first:
            found, kept = _with_more(claim, case, observed, found, built_first)
    holds = found.status is Status.CERTIFIED
    built = [built_at(observed, size) for size in case.cell.line.sizes]
    copies = next((part.copies for part in built if part.copies), "") if holds and case.cell.line.random else ""
    by_size: dict[int, list[float]] = {}
    for (size, _), entries in zip(_places(case, range(built_first)), found.excesses, strict=False):
        by_size.setdefault(size, []).append(max(entries))  # up to the first that decides
    slack = rational_of(claim.margin.value) if claim.margin is not None else Fraction(0)
    decision, detail = found.decision(float(slack), case.levels), found.detail
    if holds:
        decision = replace(decision, status=Status.SUPPORTED)
    if kept and holds:
        detail += f"; the floats of {many(kept, 'more instance')} keep it, {SAFETY} times their rounding included"
    on_draws = holds and not enumerated and isinstance(case.plan, InstancesPlan)
    if on_draws:
        untraced = observed.keys is None  # a build whose use of keys is known draws each of its instances
        decision = drawn_decision(decision, case, built, copies if untraced else "")
        detail += f"; {left_open(case, built)}"
    elif copies:
        detail += f"; {copies}"
    counts = {size: len(observed.instances[size]) if holds else len(by_size[size]) for size in by_size}
    tested = Tested(
        decision,
        tuple(Point(float(size), max(excess), None, counts[size]) for size, excess in by_size.items()),
        (unbuilt(case, observed, holds=holds and not copies),),
        detail,
    )
    return replace(
        case.decided(tested),
        rigorous=found.status is not Status.INCONCLUSIVE,
        covered=holds and enumerated,
        statistical=on_draws,
        on_draws=on_draws,
        scope=f"the {looked_at_text(built)} built" if holds else "",
        tightness=lambda: tightness_of(found.shares, np.ones(len(found.shares))),
    )


def _places(case: CellCase, draws: Iterable[int]) -> list[tuple[int, int]]:
    chosen = list(draws)
    return [(size, draw) for size in case.cell.line.sizes for draw in chosen]


def _bounded(claim: Inequality, case: CellCase, observed: Observed, draws: Iterable[int]) -> PointwiseBound:
    """The bound on these instances of every size, in balls."""
    return _in_balls(claim, case, observed, _places(case, draws))


def _in_balls(
    claim: Inequality, case: CellCase, observed: Observed, places: Sequence[tuple[int, int]], doubted: int | None = None
) -> PointwiseBound:
    cell, swept = case.cell, case.cell.line.swept
    slack = rational_of(claim.margin.value) if claim.margin is not None else Fraction(0)
    pair, wanted = _sides(claim), frozenset(claim.observed)
    points = [
        (f"instance {draw} at {swept} = {size}", partial(_at_draw, pair, wanted, cell, observed, size, draw))
        for size, draw in places
    ]
    return bounded_at_points(points, slack, doubted=doubted)


def _with_more(
    claim: Inequality, case: CellCase, observed: Observed, first: PointwiseBound, count: int
) -> tuple[PointwiseBound, int]:
    """The bound on the further instances: where the floats returned leave it open, in the floats' account and in balls.

    Beside it the number of instances that the floats returned kept.
    """
    test = FloatTest(*_sides(claim), _slack(claim), bound=True)
    wanted, more = frozenset(claim.observed), observed.line.draws - count
    open_ = [
        (size, draw)
        for size in case.cell.line.sizes
        for draw in open_in_floats([test], wanted, case.cell, observed, size, count)
    ]
    kept = more * len(case.cell.line.sizes) - len(open_)
    if not open_:
        return first, kept
    rest = _in_balls(claim, case, observed, open_, 0)
    if rest.status is not Status.CERTIFIED:
        return rest, kept
    return replace(first, shares=first.shares + rest.shares), kept


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
