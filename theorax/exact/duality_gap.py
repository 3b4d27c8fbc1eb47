"""Duality gaps in balls: a feasible value, a lower bound, and what their difference certifies or refutes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint
from flint import arb, fmpq

from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Reason, Side, Status
from theorax.exact.decisions import ball_text, decided
from theorax.numerics.arithmetics import UndecidedComparison, UnsupportedPrimitive

__all__ = ["GAP_PRECISION", "DualityGap", "GapProblem", "duality_gap"]

GAP_PRECISION = 256
"""Bits of the balls that are compared."""


@final
@dataclass(frozen=True)
class GapProblem:
    """A claimed least ``value`` in balls, a lower ``bound`` of it, and numbers that are at least zero where both hold.

    ``rival``: the value at another point, feasible where ``rival_constraints`` are at least zero.
    """

    value: arb
    bound: arb | None
    constraints: Sequence[arb] = ()
    rival: arb | None = None
    rival_constraints: Sequence[arb] = ()


@final
@dataclass(frozen=True)
class DualityGap:
    """Gap between a feasible value and a lower bound; ``largest`` bounds it from above."""

    status: Status
    reason: Reason | None
    detail: str
    largest: float = math.inf

    def decision(self, margin: Fraction | float, levels: Levels = DEFAULT_LEVELS) -> Decision:
        """The decision that the gap is at most the margin."""
        return decided(
            self.status,
            self.reason,
            estimate=self.largest,
            lower=0.0,
            upper=self.largest,
            margin=float(margin),
            side=Side.AT_MOST,
            levels=levels,
        )


def duality_gap(balls: Callable[[], GapProblem], margin: Fraction) -> DualityGap:
    """Judge a claimed least value by a lower bound and by the value at another feasible point, all in balls.

    | balls, every constraint being at least zero | status |
    |---|---|
    | some number cannot be followed in balls | INCONCLUSIVE |
    | some constraint of the point or of its bound is not known to hold | INCONCLUSIVE |
    | the bound lies above the value | REFUTED: it is no lower bound |
    | the rival is feasible and lower by more than the margin | REFUTED by a better point |
    | value less bound is at most the margin | CERTIFIED |
    | otherwise | INCONCLUSIVE |
    """
    try:
        problem = balls()
    except UndecidedComparison as error:
        return DualityGap(Status.INCONCLUSIVE, Reason.UNDECIDED_COMPARISON, str(error).rstrip("."))
    except UnsupportedPrimitive as error:
        return DualityGap(Status.INCONCLUSIVE, Reason.BUDGET, str(error).rstrip("."))
    with flint.ctx.workprec(GAP_PRECISION):
        return _compared(problem, arb(fmpq(margin.numerator, margin.denominator)))


def _compared(problem: GapProblem, margin: arb) -> DualityGap:
    value, rival = problem.value, problem.rival
    if not all(c >= 0 for c in problem.constraints):
        worst = min(problem.constraints, key=lambda c: float(c.mid()))
        known = "is violated" if worst < 0 else "is not known to hold"
        detail = f"a constraint {known}: it lies in {ball_text(worst)}; repair the point to exact feasibility"
        return DualityGap(Status.INCONCLUSIVE, Reason.HYPOTHESIS_UNSAMPLED, detail)
    if rival is not None and all(c >= 0 for c in problem.rival_constraints) and rival < value - margin:
        return DualityGap(Status.REFUTED, None, f"another feasible point is lower, by {ball_text(value - rival)}")
    if problem.bound is None:
        return DualityGap(Status.INCONCLUSIVE, Reason.UNDERPOWERED, "no lower bound is known")
    gap = value - problem.bound
    largest = float(gap.upper()) if gap.is_finite() else math.inf
    if gap < 0:
        detail = f"the lower bound lies above a feasible value: the gap is {ball_text(gap)}"
        return DualityGap(Status.REFUTED, None, detail, largest)
    if gap <= margin:
        detail = f"the gap to the lower bound is at most {largest:.3g}"
        return DualityGap(Status.CERTIFIED, None, detail, largest)
    detail = f"the gap lies in {ball_text(gap)}, against a margin of {float(margin):.3g}"
    return DualityGap(Status.INCONCLUSIVE, Reason.NUMERIC_FLOOR, detail, largest)
