"""Duality gaps in balls: a feasible value, a lower bound, and what their difference certifies or refutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint
from flint import arb, fmpq

from theorax.decide.status import Reason, Status
from theorax.exact.decisions import shown

__all__ = ["Gap", "compare"]


@final
@dataclass(frozen=True)
class Gap:
    """What one pair of a feasible value and a lower bound says; ``largest`` bounds the gap from above."""

    status: Status
    reason: Reason | None
    detail: str
    largest: float


def compare(
    value: arb,
    bound: arb | None,
    margin: Fraction,
    constraints: Sequence[arb] = (),
    rival: arb | None = None,
    rival_constraints: Sequence[arb] = (),
    precision: int = 256,
) -> Gap:
    """Judge a claimed least ``value`` by a lower bound and by the value at another feasible point.

    | balls, every constraint being at least zero | status |
    |---|---|
    | some constraint of the point or of its bound is not known to hold | INCONCLUSIVE |
    | the bound lies above the value | REFUTED: it is no lower bound |
    | the rival is feasible and lower by more than the margin | REFUTED by a better point |
    | value less bound is at most the margin | CERTIFIED |
    | otherwise | INCONCLUSIVE |
    """
    with flint.ctx.workprec(precision):
        slack = arb(fmpq(margin.numerator, margin.denominator))
        better = rival is not None and all(c >= 0 for c in rival_constraints) and rival < value - slack
        feasible = all(c >= 0 for c in constraints)
        if not feasible:
            worst = min(constraints, key=lambda c: float(c.mid()))
            known = "is violated" if worst < 0 else "is not known to hold"
            return Gap(
                Status.INCONCLUSIVE,
                Reason.HYPOTHESIS_UNSAMPLED,
                f"a constraint {known}: it lies in {shown(worst)}; repair the point to exact feasibility",
                float("inf"),
            )
        if better:
            assert rival is not None
            detail = f"another feasible point is lower, by {shown(value - rival)}"
            return Gap(Status.REFUTED, None, detail, float("inf"))
        if bound is None:
            return Gap(Status.INCONCLUSIVE, Reason.UNDERPOWERED, "no lower bound is known", float("inf"))
        gap = value - bound
        largest = float(gap.upper()) if gap.is_finite() else float("inf")
        if gap < 0:
            return Gap(
                Status.REFUTED, None, f"the lower bound lies above a feasible value: the gap is {shown(gap)}", largest
            )
        if gap <= slack:
            return Gap(Status.CERTIFIED, None, f"the gap to a certified lower bound is at most {largest:.3g}", largest)
        detail = f"the gap lies in {shown(gap)}, against a margin of {float(margin):.3g}"
        return Gap(Status.INCONCLUSIVE, Reason.NUMERIC_FLOOR, detail, largest)
