"""Optima: a feasible value and a lower bound compared in balls on instances, or a least value certified on a box."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np
from flint import arb
from sympy import And, Expr, Integer, true
from sympy.core.relational import Equality, GreaterThan, Relational, StrictGreaterThan
from sympy.logic.boolalg import Boolean

from theorax.decide.case_results import NothingEstimated, PlannedCase
from theorax.decide.inequalities import InstancesPlan
from theorax.decide.plans import Planned, Tested
from theorax.decide.status import Levels, Side, Status
from theorax.decide.verdict import Point
from theorax.errors import StatementError
from theorax.exact.box_problems import least_at
from theorax.exact.duality_gap import GAP_PRECISION, DualityGap, GapProblem, duality_gap
from theorax.exact.same_program import made_of
from theorax.language import Optimum
from theorax.language.claims.claim import MOST
from theorax.names import many
from theorax.numerics.arithmetics import Ball
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.distinct_instances import built_at
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.returned_floats import FloatTest
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.lowering import (
    CellCase,
    CellResult,
    Judge,
    drawn_decision,
    instances_plan,
    is_enumerated,
    left_open,
    open_in_floats,
    unbuilt,
    with_enough,
)
from theorax.verifiers.kinds.over_boxes import decided_on_box, rational_of, values


@final
@dataclass(frozen=True)
class OptimumJudge(Judge[Optimum]):
    """Least values, on every instance that was built.

    | in balls | status |
    |---|---|
    | on some instance the lower bound lies above a feasible value, or a rival is lower by more than the margin | refuted |
    | on every instance the point and its bound are feasible and the gap is at most the margin, and | |
    | ... a lemma that closes proves that the bound is one | certified |
    | ... the bound is made of the value itself | vacuous |
    | ... that it is a bound is believed | supported |
    | otherwise | inconclusive |

    A claim over a box is decided by branch and bound with Krawczyk's test around the claimed point.
    """

    kind = Optimum

    def prepare(self, claim: Optimum, cell: Cell, levels: Levels, original: Optimum) -> CellCase:
        assert claim.margin is not None
        margin = float(claim.margin.value)
        plan: Planned = NothingEstimated(margin=margin, levels=levels)
        if not claim.over and cell.line.random:
            plan = instances_plan(float(MOST), cell.line, levels)
        return PlannedCase(cell=cell, plan=plan, claimed=0.0, margin=margin, side=Side.AT_MOST)

    def judge(self, claim: Optimum, case: CellCase, observed: Observed) -> CellResult:
        assert claim.margin is not None
        if claim.over:
            at = [rational_of(claim.at[letter]) for letter in claim.over]
            problem = values(claim.value, claim.over, claim.margin)
            return decided_on_box(least_at(problem, at, levels=case.levels), case)
        built_first = observed.line.draws
        found = _gaps(claim, case, observed, list(_draws(observed)))
        enumerated = is_enumerated(claim, case.cell.line, observed)
        if found[-1].status is Status.CERTIFIED and not enumerated:
            case, observed = with_enough(case, observed)
            observed = observed.with_instances()
            if observed.line.draws > built_first:
                found += self._open(claim, case, observed, built_first)
        together = _together(found, case, observed, enumerated=enumerated)
        if together.decision.status is Status.SUPPORTED and _uses_value(claim, observed):
            return replace(together, trivial=True, detail=_USES_VALUE)
        return together

    def kept_by_floats(self, claim: Optimum) -> Sequence[FloatTest]:
        if claim.bound is None or claim.margin is None:
            return []
        margin = float(claim.margin.value)
        relations = And.make_args(claim.feasible if claim.feasible is not None else true)
        rooms = [_room(part) for part in relations if part != true]
        return [
            FloatTest(claim.value, claim.bound, margin),
            *(FloatTest(-room, Integer(0), bound=True) for room in rooms),
        ]

    def _open(self, claim: Optimum, case: CellCase, observed: Observed, first: int) -> list[DualityGap]:
        """The gaps of the further instances that the floats returned leave open; a rival is one for balls."""
        tests, wanted = self.kept_by_floats(claim), frozenset(claim.observed)
        places = []
        for size in observed.line.sizes:
            draws = range(first, observed.line.draws)
            left = draws if claim.rival is not None else open_in_floats(tests, wanted, case.cell, observed, size, first)
            places += [(size, draw) for draw in left]
        return _gaps(claim, case, observed, places)

    def compared(self, claim: Optimum) -> Sequence[Expr]:
        return []  # balls hold their own rounding

    def resting(self, claim: Optimum, result: CellResult, closed: Collection[str]) -> CellResult:
        if claim.over or result.decision.status is not Status.SUPPORTED:
            return result
        (gap,) = [point.estimate for point in result.points]
        count = sum(point.draws for point in result.points)
        each = f"on each of {many(count, 'instance')} a feasible value lies within {gap:.3g} of"
        if claim.bound_by in closed:
            proved = f"{each} a lower bound in balls, by the lemma {claim.bound_by}"
            beside = f"whether the lemma {claim.bound_by} speaks of this bound"
            return replace(result, trivial=False, detail=proved, unseen=(*result.unseen, beside))
        if result.trivial:
            return result
        believed = f"{each} the measured bound; that it is a bound is believed"
        unseen = (*result.unseen, "whether the bound is one")
        return replace(result, rigorous=False, covered=False, detail=believed, unseen=unseen)


_USES_VALUE = "the bound is computed from the value itself, so their gap could not have been large"


def _uses_value(claim: Optimum, observed: Observed) -> bool:
    """True if every letter of the value is one of the bound, or one that a letter of the bound is made of."""
    assert claim.bound is not None
    value, bound = ({letter.name for letter in part.free_symbols} for part in (claim.value, claim.bound))
    model, read = observed.instance(observed.line.sizes[0], 0)
    made = made_of(lambda model: dict(observed.observe(model, **read)), (model,))
    names = value & set(made)
    of = {digest for name in bound & set(made) for _, below in _flat(made[name]) for digest in below}
    return bool(names) and all(digest in of for name in names for digest, _ in _flat(made[name]))


def _flat(entry: Any) -> list[tuple[str, frozenset[str]]]:
    """The arrays of one letter."""
    if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], frozenset):
        return [entry]
    return [part for below in (entry.values() if isinstance(entry, dict) else entry) for part in _flat(below)]


def _draws(observed: Observed) -> Iterator[tuple[int, int]]:
    """Every instance, by size and number; a line may have none."""
    for size in observed.line.sizes:
        yield from ((size, draw) for draw in range(observed.count(size)))


def _gaps(claim: Optimum, case: CellCase, observed: Observed, places: Sequence[tuple[int, int]]) -> list[DualityGap]:
    """The gap on these instances in turn, up to the first that is not certified."""
    assert claim.margin is not None
    found: list[DualityGap] = []
    for size, draw in places:
        balls = partial(_lowered, claim, case.cell, observed, size, draw)
        found.append(duality_gap(balls, rational_of(claim.margin.value)))
        if found[-1].status is not Status.CERTIFIED:
            break
    return found


def _together(found: list[DualityGap], case: CellCase, observed: Observed, *, enumerated: bool) -> CellResult:
    last = found[-1]
    looked = last.status is Status.CERTIFIED
    count = observed.line.draws * len(observed.line.sizes) if looked else len(found)
    largest = max(gap.largest for gap in found)
    certain = last.status is not Status.INCONCLUSIVE
    status = Status.SUPPORTED if last.status is Status.CERTIFIED else last.status
    detail = last.detail
    if status is Status.SUPPORTED:
        detail = (
            f"on each of {many(count, 'instance')} a feasible value lies within {largest:.3g} of the measured bound"
        )
    decision = replace(last, status=status, largest=largest).decision(case.margin or 0.0, case.levels)
    on_draws = status is Status.SUPPORTED and not enumerated and isinstance(case.plan, InstancesPlan)
    if on_draws:
        built = [built_at(observed, size) for size in observed.line.sizes]
        decision = drawn_decision(decision, case, built, next((part.copies for part in built if part.copies), ""))
        detail += f"; {left_open(case, built)}"
    points = tuple(Point(float(size), largest, None, count) for size in observed.line.sizes[-1:])
    unseen = (unbuilt(case, observed, holds=status is Status.SUPPORTED),)
    return replace(
        case.decided(Tested(decision, points, unseen, detail)),
        rigorous=certain,
        covered=status is Status.SUPPORTED and enumerated,
        statistical=on_draws,
        on_draws=on_draws,
        scope=f"the {many(count, 'instance')} built" if status is Status.SUPPORTED else "",
    )


def _lowered(claim: Optimum, cell: Cell, observed: Observed, size: int, draw: int) -> GapProblem:
    """The value, its bound and its rival on one instance, in balls."""
    balls = Ball(GAP_PRECISION, rounds=True)
    value = instances.at_draw(claim.observed, cell, observed, size, draw, balls)

    def number(expression: Expr) -> arb:
        entries = np.asarray(value(expression), dtype=object).ravel()
        if len(entries) != 1:
            raise StatementError(
                f"Optimum: {expression} has {many(len(entries), 'entry', 'entries')}. A least value is one number. "
                "Measure its sum or its norm."
            )
        found: arb = entries[0]
        return found

    def margins(relation: Boolean) -> list[arb]:
        return [entry for part in And.make_args(relation) for entry in _margin(part, value)]

    return GapProblem(
        number(claim.value),
        number(claim.bound) if claim.bound is not None else None,
        margins(claim.feasible if claim.feasible is not None else true),
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
    return list(np.asarray(value(_room(relation)), dtype=object).ravel())


def _room(relation: Relational) -> Expr:
    greater = isinstance(relation, GreaterThan | StrictGreaterThan)
    return relation.lhs - relation.rhs if greater else relation.rhs - relation.lhs
