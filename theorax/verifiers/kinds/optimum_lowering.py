"""Optima: a feasible value and a lower bound compared in balls on instances, or a least value certified on a box."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import numpy as np
from flint import arb
from sympy import And, Expr, true
from sympy.core.relational import Equality, GreaterThan, Relational, StrictGreaterThan
from sympy.logic.boolalg import Boolean

from theorax.decide.status import Levels, Reason, Side, Status
from theorax.decide.verdict import Point
from theorax.errors import StatementError
from theorax.exact.branch_and_bound import Certificate
from theorax.exact.decisions import decided, told
from theorax.exact.duality_gap import Gap, compare
from theorax.exact.enclosures import Enclosure
from theorax.exact.least_values import least_on_box, what_of
from theorax.language import Optimum
from theorax.numerics.arithmetics import Ball, UndecidedComparison, UnsupportedPrimitive
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.lowering import Judge, Judged, Prepared
from theorax.verifiers.kinds.over_boxes import domain_of, judged

PRECISION = 256


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
        return Prepared(cell, 0.0, float(claim.margin.value), 1.0, None, Side.AT_MOST, levels=levels)

    def judge(self, claim: Optimum, prepared: Prepared, observed: Observed) -> Judged:
        assert claim.margin is not None
        margin = Fraction(*map(int, claim.margin.value.as_numer_denom()))
        if claim.over:
            return _on_box(claim, prepared, margin)
        found: list[Gap] = []
        for size, draw in _draws(observed):
            try:
                found.append(_compared(claim, prepared.cell, observed, size, draw, margin))
            except UnsupportedPrimitive as error:
                found.append(Gap(Status.INCONCLUSIVE, Reason.BUDGET, str(error).rstrip("."), float("inf")))
            except UndecidedComparison as error:
                trouble = str(error).rstrip(".")
                found.append(Gap(Status.INCONCLUSIVE, Reason.UNDECIDED_COMPARISON, trouble, float("inf")))
            if found[-1].status is not Status.CERTIFIED:
                break
        return _together(found, prepared, observed)


def _draws(observed: Observed) -> Iterator[tuple[int, int]]:
    """Every instance, by size and number; a line without any has none to be optimal on."""
    for size in observed.line.sizes:
        count = len(observed.instances[size]) if observed.instances else observed.line.draws
        yield from ((size, draw) for draw in range(count))


def _together(found: list[Gap], prepared: Prepared, observed: Observed) -> Judged:
    last, count = found[-1], len(found)
    largest = max(gap.largest for gap in found)
    certain = last.status is not Status.INCONCLUSIVE
    status = Status.SUPPORTED if last.status is Status.CERTIFIED else last.status
    detail = last.detail
    if status is Status.SUPPORTED:
        detail = f"on each of {count} instances a feasible value lies within {largest:.3g} of a certified lower bound"
    decision = decided(
        status,
        last.reason,
        estimate=largest,
        lower=0.0,
        upper=largest,
        margin=prepared.margin,
        side=Side.AT_MOST,
        levels=prepared.levels,
    )
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


def _compared(claim: Optimum, cell: Cell, observed: Observed, size: int, draw: int, margin: Fraction) -> Gap:
    balls = Ball(PRECISION)
    wanted = frozenset(claim.observed)
    place = ("optimum", wanted, size, draw)
    if place not in observed._evaluated:
        model, read = observed.instances[size][draw] if observed.instances else _built(observed, size, draw)
        observed._evaluated[place] = instances.letters(wanted, observed.observe, model, read, balls)
    seen = observed._evaluated[place]

    def number(expression: Expr) -> arb:
        entries = np.asarray(instances.on(expression, cell, size, seen, balls), dtype=object).ravel()
        if len(entries) != 1:
            raise StatementError(
                f"Optimum: {expression} has {len(entries)} entries. A value that is least is one number. Measure its "
                "sum or its norm."
            )
        found: arb = entries[0]
        return found

    def margins(relation: Boolean) -> list[arb]:
        return [entry for part in And.make_args(relation) for entry in _margin(part, cell, size, seen, balls)]

    return compare(
        number(claim.value),
        number(claim.bound) if claim.bound is not None else None,
        margin,
        margins(claim.feasible),
        number(claim.rival) if claim.rival is not None else None,
        margins(claim.rival_feasible),
        PRECISION,
    )


def _built(observed: Observed, size: int, draw: int) -> Any:
    assert observed.model is not None
    return observed.model(size, draw)


def _margin(relation: Boolean, cell: Cell, size: int, seen: Any, balls: Ball) -> list[arb]:
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
    return list(np.asarray(instances.on(gap, cell, size, seen, balls), dtype=object).ravel())


def _on_box(claim: Optimum, prepared: Prepared, margin: Fraction) -> Judged:
    letters = tuple(claim.over)
    at = [Fraction(int(claim.at[letter].p), int(claim.at[letter].q)) for letter in letters]
    box = domain_of(claim.over)
    try:
        function = Enclosure.of(claim.value, letters)
        gradient = _gradient(claim.value, letters)
        found, critical = least_on_box(function, gradient, at, box, margin)
    except UnsupportedPrimitive as error:
        found, critical = (
            Certificate(Status.INCONCLUSIVE, 0, 0, margin, reason=Reason.BUDGET, trouble=str(error)),
            None,
        )
    case = judged(found, prepared, claim.over, slack=margin)
    case = replace(case, detail=told(found, [str(letter) for letter in letters], what_of(found)))
    if critical is None or critical.shape != "minimum" or not case.rigorous or found.status is Status.REFUTED:
        return case
    where = f"; the only critical point within {float(critical.alone.radius):.2g} is a strict minimum"
    return replace(case, detail=case.detail + where)


def _gradient(value: Expr, letters: tuple[Any, ...]) -> Enclosure | None:
    try:
        return Enclosure.of([value.diff(letter) for letter in letters], letters)
    except UnsupportedPrimitive:  # a kink: its derivative is a sign, or is not known to SymPy
        return None
