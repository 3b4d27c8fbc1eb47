"""Optima: a feasible value and a lower bound compared in balls on instances, or a least value certified on a box."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np
from flint import arb
from sympy import And, Expr, true
from sympy.core.relational import Equality, GreaterThan, Relational, StrictGreaterThan
from sympy.logic.boolalg import Boolean

from theorax.decide.status import Levels, Side, Status
from theorax.decide.verdict import Point
from theorax.errors import StatementError
from theorax.exact.box_problems import least_at
from theorax.exact.duality_gap import GAP_PRECISION, DualityGap, GapProblem, duality_gap
from theorax.language import Optimum
from theorax.numerics.arithmetics import Ball
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.lowering import Judge, Judged, Prepared
from theorax.verifiers.kinds.over_boxes import judged, rational_of, values


@final
@dataclass(frozen=True)
class OptimumJudge(Judge[Optimum]):
    """Least values, on every instance that was built.

    | in balls | status |
    |---|---|
    | on some instance the lower bound lies above a feasible value, or a rival is lower by more than the margin | refuted |
    | on every instance the point and its bound are feasible and the gap is at most the margin | certified |
    | otherwise | inconclusive |

    A claim over a box is decided by branch and bound with Krawczyk's test around the claimed point.
    """

    kind = Optimum

    def prepare(self, claim: Optimum, cell: Cell, levels: Levels, original: Optimum) -> Prepared:
        assert claim.margin is not None
        return Prepared(cell, 0.0, float(claim.margin.value), Side.AT_MOST, levels=levels)

    def judge(self, claim: Optimum, prepared: Prepared, observed: Observed) -> Judged:
        assert claim.margin is not None
        if claim.over:
            at = [rational_of(claim.at[letter]) for letter in claim.over]
            problem = values(claim.value, claim.over, claim.margin)
            return judged(least_at(problem, at, levels=prepared.levels), prepared)
        found: list[DualityGap] = []
        for size, draw in _draws(observed):
            balls = partial(_lowered, claim, prepared.cell, observed, size, draw)
            found.append(duality_gap(balls, rational_of(claim.margin.value)))
            if found[-1].status is not Status.CERTIFIED:
                break
        return _together(found, prepared, observed)


def _draws(observed: Observed) -> Iterator[tuple[int, int]]:
    """Every instance, by size and number; a line without any has none to be optimal on."""
    for size in observed.line.sizes:
        count = len(observed.instances[size]) if observed.instances else observed.line.draws
        yield from ((size, draw) for draw in range(count))


def _together(found: list[DualityGap], prepared: Prepared, observed: Observed) -> Judged:
    last, count = found[-1], len(found)
    largest = max(gap.largest for gap in found)
    certain = last.status is not Status.INCONCLUSIVE
    status = Status.SUPPORTED if last.status is Status.CERTIFIED else last.status
    detail = last.detail
    if status is Status.SUPPORTED:
        detail = f"on each of {count} instances a feasible value lies within {largest:.3g} of a certified lower bound"
    decision = replace(last, status=status, largest=largest).decision(prepared.margin, prepared.levels)
    points = tuple(Point(float(size), largest, None, count) for size in observed.line.sizes[-1:])
    return Judged(
        prepared,
        decision,
        points,
        ("instances outside the law sampled",),
        rigorous=certain,
        statistical=False,
        detail=detail,
        scope=f"the {count} instances built" if status is Status.SUPPORTED else "",
    )


def _lowered(claim: Optimum, cell: Cell, observed: Observed, size: int, draw: int) -> GapProblem:
    """The value, its bound and its rival on one instance, in balls."""
    balls = Ball(GAP_PRECISION)
    value = instances.at_draw(claim.observed, cell, observed, size, draw, balls)

    def number(expression: Expr) -> arb:
        entries = np.asarray(value(expression), dtype=object).ravel()
        if len(entries) != 1:
            raise StatementError(
                f"Optimum: {expression} has {len(entries)} entries. A value that is least is one number. Measure its "
                "sum or its norm."
            )
        found: arb = entries[0]
        return found

    def margins(relation: Boolean) -> list[arb]:
        return [entry for part in And.make_args(relation) for entry in _margin(part, value)]

    return GapProblem(
        number(claim.value),
        number(claim.bound) if claim.bound is not None else None,
        margins(claim.feasible),
        number(claim.rival) if claim.rival is not None else None,
        margins(claim.rival_feasible),
    )


def _margin(relation: Boolean, value: Callable[[Expr], Any]) -> list[arb]:
    """By how much a relation holds, entry by entry: at least zero where it does.

    **Raises:** ``StatementError`` for what is no inequality: two rounded numbers are never known to be equal.
    """
    if relation == true:
        return []
    if not isinstance(relation, Relational) or isinstance(relation, Equality):
        raise StatementError(
            f"Optimum: feasible={relation} is no inequality. Rounded numbers are never known to be equal. Parametrise "
            "the point so that its equalities hold by construction, and write the inequalities."
        )
    greater = isinstance(relation, GreaterThan | StrictGreaterThan)
    gap = relation.lhs - relation.rhs if greater else relation.rhs - relation.lhs
    return list(np.asarray(value(gap), dtype=object).ravel())
