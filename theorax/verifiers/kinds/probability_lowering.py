"""Probabilities of events: counts of draws, those within the rounding of a comparison counted against the claim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from sympy import And, Basic, Eq, Expr, Ge, Gt, Le, Lt, Ne, Not, Or
from sympy.core.relational import Relational
from sympy.logic.boolalg import BooleanFalse, BooleanTrue

from theorax.decide.case_results import PlannedCase
from theorax.decide.probabilities import ProbabilityPlan, decide_probability, widest_margin
from theorax.decide.status import Levels, Side
from theorax.errors import DesignError
from theorax.exact.pointwise_bounds import BALLS
from theorax.language import Measured, Probability
from theorax.numerics.arithmetics import UndecidedComparison, UnsupportedPrimitive
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.evaluation import Observed, evaluate_draws, roundings
from theorax.verifiers.cases.sweep_lines import Cell, SweepLine
from theorax.verifiers.kinds.lowering import AsBall, CellCase, CellResult, Judge, RoundingSeen

_TRIED = 4  # violations that balls look at: what cannot be followed in one draw can seldom be followed in another

Mask = np.ndarray  # of booleans, one a draw


@final
@dataclass(frozen=True)
class ProbabilityJudge(Judge[Probability]):
    """Probabilities; every size is a case of its own.

    A draw is a sure success where the event holds for every value within the declared errors of what it compares, and a
    sure failure where it holds for none. Draws in between fail for support and succeed for refutation.

    | claimed probability | data | status |
    |---|---|---|
    | below one | Clopper-Pearson | as `decide` says |
    | one | a sure failure, confirmed in balls | refuted, rigorously |
    | one | a sure failure, not confirmed | inconclusive: floats alone refute nothing |
    | one | no sure failure | as `decide` says: the content excluded against the margin |

    Under the margin reading an event that is almost sure may fail in a share below the margin: Clopper-Pearson decides.
    """

    kind = Probability
    fewest_of_one_run = 1

    def cells(self, claim: Probability, line: SweepLine) -> Iterator[Cell]:
        for size in line.sizes:
            yield from super().cells(claim, replace(line, sizes=(size,)))

    def prepare(self, claim: Probability, cell: Cell, levels: Levels, original: Probability) -> CellCase:
        (size,) = cell.line.sizes
        claimed = cell.number(claim.at_least, size)
        margin = float(claim.margin.value) if claim.margin is not None else cell.number(original.content, size)
        if not 0 < margin < claimed <= 1:
            raise DesignError(
                f"A probability of at least {claimed:g} with a margin of {margin:g} is claimed at {cell.line.swept} = "
                f"{size}. Support must exclude some probability above zero. Restrict the claim with where=..., or "
                "write a smaller margin."
            )
        if claim is not original:  # a variant is held to the margin that it could have
            margin = min(margin, widest_margin(claimed))
        plan = ProbabilityPlan(
            at_least=claimed,
            margin=margin,
            draws=cell.line.draws,
            levels=levels,
            reading=claim.reading,
            expected=None if original.expected is None else max(claimed, float(original.expected)),
        )
        return PlannedCase.of(cell, plan, Side.AT_LEAST)

    def judge(self, claim: Probability, case: CellCase, observed: Observed) -> CellResult:
        assert isinstance(case.plan, ProbabilityPlan)
        (size,) = case.cell.line.sizes
        at, cell = observed.line.sizes.index(size), Cell(observed.line, case.cell.chosen)
        sure, possible = _counted(claim, case.cell, observed)
        failing = np.flatnonzero(~possible)[:_TRIED].tolist() if case.plan.least_true == 1 else []
        confirmed = next(filter(None, (_confirmed(claim.event, cell, observed, at, draw) for draw in failing)), "")
        successes = int(sure.sum())
        undecided = int(possible.sum()) - successes
        tested = decide_probability(case.plan, successes, undecided, unconfirmed=not confirmed)
        points = tuple(replace(point, size=float(size)) for point in tested.points)
        detail = confirmed or tested.detail
        found = case.decided(replace(tested, points=points, detail=detail))
        return replace(found, rigorous=bool(confirmed))

    def compared(self, claim: Probability) -> Sequence[Expr]:
        return [part.lhs - part.rhs for part in claim.event.atoms(Relational)]

    def stands(self, claim: Probability, case: CellResult, observed: Observed, seen: RoundingSeen) -> bool:
        assert isinstance(case.plan, ProbabilityPlan)
        sure, possible = _counted(claim, case.cell, observed, seen.allowed)
        successes = int(sure.sum())
        undecided = int(possible.sum()) - successes
        found = decide_probability(case.plan, successes, undecided, unconfirmed=True).decision
        return found.status is case.decision.status

    def miscounted(self, claim: Probability, cell: Cell, observed: Observed, draw: int, balls: Iterable[AsBall]) -> str:
        sure, possible = (bool(mask[draw]) for mask in _counted(claim, cell, observed))
        known = next((answer for ball in balls if (answer := _in_balls(claim.event, ball)) is not None), None)
        if known is None or (known and possible) or (not known and not sure):
            return ""
        return "no success" if known else "a success"


def _counted(claim: Probability, cell: Cell, observed: Observed, more: float = 0.0) -> tuple[Mask, Mask]:
    """Of every draw at the one size of the case, what the event is within the declared errors and ``more``."""
    (size,), whole = cell.line.sizes, Cell(observed.line, cell.chosen)
    sure, possible = _outcomes(claim.event, whole, observed, observed.line.sizes.index(size), more)
    return np.broadcast_to(sure, observed.line.draws), np.broadcast_to(possible, observed.line.draws)


def _outcomes(event: Basic, cell: Cell, observed: Observed, at: int, more: float = 0.0) -> tuple[Mask, Mask]:
    """Of every draw whether the event surely holds, and whether it possibly does, within the declared errors.

    ``more``: a further error of what is compared.

    **Raises:** `DesignError` for a connective other than and, or, not, and relations of real numbers.
    """
    if isinstance(event, BooleanTrue | BooleanFalse):
        return np.asarray(bool(event)), np.asarray(bool(event))
    if isinstance(event, Not):
        sure, possible = _outcomes(event.args[0], cell, observed, at, more)
        return ~possible, ~sure
    if isinstance(event, And | Or):
        parts = [_outcomes(part, cell, observed, at, more) for part in event.args]
        together = np.logical_and if isinstance(event, And) else np.logical_or
        first, second = (parts[0][0], parts[0][1])
        for sure, possible in parts[1:]:
            first, second = together(first, sure), together(second, possible)
        return first, second
    if not isinstance(event, Relational):
        raise DesignError(
            f"The event holds {event}, which is no relation. A draw is counted by comparing numbers. Write relations "
            "of measured letters, joined by And, Or and Not."
        )
    gap = event.lhs - event.rhs
    values, error = evaluate_draws(gap, cell, observed, at), roundings(gap, cell, observed, at) + more
    if isinstance(event, Eq | Ne):
        equal = (values == 0) & (error == 0), np.abs(values) <= error
        return equal if isinstance(event, Eq) else (~equal[1], ~equal[0])
    if isinstance(event, Le | Lt):
        values = -values
    if isinstance(event, Ge | Le):
        return values >= error, values >= -error
    assert isinstance(event, Gt | Lt)
    return values > error, values > -error


def _confirmed(event: Basic, cell: Cell, observed: Observed, at: int, draw: int) -> str:
    """Decision of balls on a draw in which the event fails; None if they leave it open."""
    if observed.model is None:
        return ""
    size = observed.line.sizes[at]
    wanted = [letter for letter in event.free_symbols if isinstance(letter, Measured)]
    try:
        ball = instances.at_draw(wanted, cell, observed, size, draw, BALLS)
        fails = _fails(event, lambda gap: ball(gap).item())
    except (UnsupportedPrimitive, UndecidedComparison):
        return ""
    if not fails:
        return ""
    return f"draw {draw} at {cell.line.swept} = {size} violates it: balls of what it compares lie on the wrong side"


def _in_balls(event: Basic, ball: AsBall) -> bool | None:
    """Truth of the event, its numbers being balls; None where they leave it open."""
    return True if _holds(event, ball) else False if _fails(event, ball) else None


def _fails(event: Basic, ball: AsBall) -> bool:
    """True if the event surely fails, its numbers being balls."""
    if isinstance(event, Not):
        return _holds(event.args[0], ball)
    if isinstance(event, And | Or):
        return (any if isinstance(event, And) else all)(_fails(part, ball) for part in event.args)
    gap = ball(event.lhs - event.rhs)
    if isinstance(event, Ge):
        return bool(gap < 0)
    if isinstance(event, Gt):
        return bool(gap <= 0)
    if isinstance(event, Le):
        return bool(gap > 0)
    if isinstance(event, Lt):
        return bool(gap >= 0)
    return bool(gap != 0) if isinstance(event, Eq) else bool(gap == 0)


def _holds(event: Basic, ball: AsBall) -> bool:
    """True if the event surely holds, its numbers being balls."""
    if isinstance(event, Not):
        return _fails(event.args[0], ball)
    if isinstance(event, And | Or):
        return (all if isinstance(event, And) else any)(_holds(part, ball) for part in event.args)
    return _fails(event.negated, ball)
