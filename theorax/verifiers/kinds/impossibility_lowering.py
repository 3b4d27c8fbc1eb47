"""Impossibilities: a certified lower bound of the distance, or a search that finds what is there and not this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from flint import arb
from sympy import Expr

from theorax.decide.case_results import NothingEstimated, PlannedCase
from theorax.decide.equivalence import decide
from theorax.decide.estimators import proportion
from theorax.decide.plans import Tested
from theorax.decide.status import Decision, Levels, Reason, Side, Status
from theorax.decide.verdict import Point
from theorax.errors import ObservationError
from theorax.exact.decisions import ball_text, decided
from theorax.exact.pointwise_bounds import BALLS
from theorax.language import Impossibility, Measured
from theorax.numerics.arithmetics import UndecidedComparison, UnsupportedPrimitive
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.evaluation import Observed, evaluate_draws
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.lowering import CellCase, CellResult, Judge, RoundingSeen
from theorax.verifiers.kinds.over_boxes import on_box

POWER = 0.9
"""The share of planted members that the search must be shown to find, at the level ``POWER_LEVEL``."""
FEWEST = 29
"""The fewest planted members that can show this power."""
POWER_LEVEL = 0.05  # 29 of 29 give 1 - 0.05^(1/29) = 0.098 (METHOD, section 8.3)


_NOTHING_SEARCHED = proportion(np.ones(2))


@final
@dataclass(frozen=True)
class ImpossibilityJudge(Judge[Impossibility]):
    r"""No member of a class comes nearer than a distance.

    | restarts on the target | planted members | status |
    |---|---|---|
    | a ball of some distance lies below the bound | any | refuted, by that member |
    | none comes nearer, floats | found below ``tol`` with power at least 0.9, at 95 % | supported, by a search of that power |
    | none comes nearer, floats | too few are left that do not start below ``tol`` | vacuous |
    | none comes nearer, floats | otherwise | inconclusive: the search has no power |
    | some come nearer, floats alone | any | inconclusive |

    A search never supports more than that it did not find: the restarts are draws, fixed beforehand. A claim over a box
    is decided by branch and bound.
    """

    kind = Impossibility

    def prepare(self, claim: Impossibility, cell: Cell, levels: Levels, original: Impossibility) -> CellCase:
        claimed = 0.0 if claim.over else cell.number(claim.at_least, _size(cell))
        plan = NothingEstimated(margin=1 - POWER, levels=levels)
        return PlannedCase(cell=cell, plan=plan, claimed=claimed, margin=plan.margin, side=Side.AT_LEAST)

    def judge(self, claim: Impossibility, case: CellCase, observed: Observed) -> CellResult:
        if claim.over:
            return on_box(claim, claim.at_least, claim.distance, case)
        cell, sizes = case.cell, case.cell.line.sizes
        columns = [evaluate_draws(claim.distance, cell, observed, at) for at in range(len(sizes))]
        _refuse_undefined(claim, cell, columns)
        nearest = min(float(column.min()) for column in columns)
        restarts = sum(map(len, columns))
        points = tuple(Point(float(s), float(c.min()), None, len(c)) for s, c in zip(sizes, columns, strict=True))
        misses, near = _misses(claim, cell, observed)
        missed = proportion(misses) if len(misses) else _NOTHING_SEARCHED
        powered = decide(missed, 0.0, case.plan.margin, Side.AT_MOST, Levels(POWER_LEVEL, POWER_LEVEL))
        power = 1 - missed.upper(POWER_LEVEL) if len(misses) else 0.0
        status, reason, detail = _verdict(claim, case, observed, columns, nearest)
        idle = status is None and near > 0 and len(misses) < FEWEST
        if idle:
            status, reason = Status.SUPPORTED, None
            detail = (
                f"{near} of {near + len(misses)} planted members start within the tolerance and need no search: "
                f"{len(misses)} are left, and {FEWEST} are needed"
            )
        elif status is None:
            if powered.status is Status.SUPPORTED:
                status, reason = Status.SUPPORTED, None
                detail = (
                    f"{restarts} restarts come no nearer than {nearest:.6g}; the same search finds planted members with "
                    f"probability at least {power:.2g}, at 95 %"
                )
            else:
                status, reason = Status.INCONCLUSIVE, Reason.UNDERPOWERED
                detail = (
                    f"{restarts} restarts come no nearer than {nearest:.6g}, but the search finds planted members "
                    f"with probability {power:.2g} only: {POWER:g} needs 29 of 29"
                )
        decision = _decision(status, reason, nearest, case)
        unseen = ("members that this search does not find", f"power below {power:.2g} of the search")
        return replace(
            case.decided(Tested(decision, points, unseen, detail)),
            rigorous=status is Status.REFUTED,
            statistical=False,
            trivial=idle,
            scope=f"a search of power {power:.2g}, {restarts} restarts"
            if status is Status.SUPPORTED and not idle
            else "",
        )

    def compared(self, claim: Impossibility) -> Sequence[Expr]:
        return [claim.distance]

    def stands(self, claim: Impossibility, case: CellResult, observed: Observed, seen: RoundingSeen) -> bool:
        return case.decision.lower - seen.allowed >= case.decision.claimed


def _refuse_undefined(claim: Impossibility, cell: Cell, columns: Sequence[np.ndarray]) -> None:
    """Let pass distances that are defined in every restart.

    **Raises:** ObservationError for the first restart whose distance is none.
    """
    for size, column in zip(cell.line.sizes, columns, strict=True):
        if (bad := np.isnan(column)).any():
            raise ObservationError(
                f"The distance {claim.distance} is undefined in restart {int(np.argmax(bad))} of {cell.line.name} at "
                f"{cell.line.swept} = {size}, and in a share {np.mean(bad):.2g} of them. An undefined distance is neither near "
                "nor far. Measure one that is defined for every member."
            )


def _verdict(
    claim: Impossibility, case: CellCase, observed: Observed, columns: list[np.ndarray], nearest: float
) -> tuple[Status | None, Reason | None, str]:
    """Finding from restarts that came nearer; None where none did."""
    assert case.claimed is not None
    if nearest >= case.claimed:
        return None, None, ""
    cell = case.cell
    at = min(range(len(columns)), key=lambda place: float(columns[place].min()))
    size, draw = cell.line.sizes[at], int(np.argmin(columns[at]))
    told = f"restart {draw} at {cell.line.swept} = {size} comes as near as {nearest:.6g}"
    try:
        ball = _ball(claim.distance - claim.at_least, cell, observed, size, draw)
    except (UnsupportedPrimitive, UndecidedComparison) as error:
        return Status.INCONCLUSIVE, Reason.BUDGET, f"{told} in floats: {str(error).rstrip('.')}"
    if ball is not None and ball < 0:
        return Status.REFUTED, None, f"{told}: a member of the class, its distance less the bound in {ball_text(ball)}"
    return Status.INCONCLUSIVE, Reason.NUMERIC_FLOOR, f"{told} in floats, and no ball confirms it"


def _ball(expression: Expr, cell: Cell, observed: Observed, size: int, draw: int) -> arb | None:
    if observed.model is None:
        return None
    wanted = [letter for letter in expression.free_symbols if isinstance(letter, Measured)]
    ball: arb = instances.at_draw(wanted, cell, observed, size, draw, BALLS)(expression).item()
    return ball


def _misses(claim: Impossibility, cell: Cell, observed: Observed) -> tuple[np.ndarray, int]:
    """Of each planted member that was searched for, whether it was missed; and how many needed no search."""
    assert claim.planted is not None and claim.started is not None and claim.tol is not None
    missed, searched = [], []
    for at, size in enumerate(cell.line.sizes):
        tol = cell.number(claim.tol, size)
        missed.append(~(evaluate_draws(claim.planted, cell, observed, at) <= tol))
        searched.append(evaluate_draws(claim.started, cell, observed, at) > tol)  # what is no number starts nowhere
    counts = np.concatenate(searched)
    return np.concatenate(missed)[counts].astype(float), int(np.sum(~counts))


def _decision(status: Status, reason: Reason | None, nearest: float, case: CellCase) -> Decision:
    assert case.claimed is not None
    return decided(
        status,
        reason,
        estimate=nearest,
        lower=nearest,
        claimed=case.claimed,
        margin=case.plan.margin,
        side=Side.AT_LEAST,
        levels=case.levels,
    )


def _size(cell: Cell) -> int | None:
    return cell.line.sizes[0] if cell.line.sizes else None
