"""Bounds of arrays at given points, entry by entry, in balls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint
import numpy as np
from flint import arb

from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Reason, Side, Status
from theorax.exact.decisions import decided
from theorax.exact.enclosures import rational
from theorax.exact.identity_ladder import PRECISION, AtPoint
from theorax.names import many
from theorax.numerics.arithmetics import Ball, RunningError, UndecidedComparison, UnsupportedPrimitive

__all__ = ["BALLS", "FLOATS", "PointwiseBound", "bounded_at_points"]

BALLS = Ball(PRECISION, rounds=True)
"""The arithmetic in which points are decided."""

FLOATS = RunningError("float64")
"""That in which many points are looked at before balls are asked."""


@final
@dataclass(frozen=True)
class PointwiseBound:
    """Balls of a bound at points: ``excesses`` of left over right and ``shares`` of it, for each point."""

    status: Status
    reason: Reason | None
    detail: str
    excesses: tuple[tuple[float, ...], ...] = ()
    shares: tuple[float, ...] = ()

    @property
    def nearest(self) -> float:
        """The largest excess."""
        return max((entry for point in self.excesses for entry in point), default=-math.inf)

    def decision(self, slack: float, levels: Levels = DEFAULT_LEVELS) -> Decision:
        """The decision that no excess is above the slack."""
        return decided(
            self.status,
            self.reason,
            estimate=self.nearest,
            upper=self.nearest,
            margin=slack,
            side=Side.AT_MOST,
            levels=levels,
        )


def bounded_at_points(
    points: Sequence[tuple[str, AtPoint]], slack: Fraction = Fraction(0), *, doubted: int | None = None
) -> PointwiseBound:
    """Decide that left is at most right at these points, each with the words that name it.

    From place ``doubted`` on, balls are run only where floats, with the account of their rounding, leave the bound open.

    | in balls | status |
    |---|---|
    | some excess is positive | REFUTED by that point |
    | every excess is at most the slack, and each point has one | CERTIFIED |
    | otherwise, or some number cannot be followed | INCONCLUSIVE |
    """
    excesses: list[tuple[float, ...]] = []
    shares: list[float] = []
    undecided = 0
    for place, (where, sides) in enumerate(points):
        if doubted is not None and place >= doubted and (seen := _in_floats(sides, float(slack))) is not None:
            excesses.append(seen[0])
            shares += seen[1]
            continue
        try:
            ((left, right),) = sides(BALLS)
            with BALLS.working():
                gaps = np.asarray(BALLS.binary("sub", left, right), dtype=object).ravel().tolist()
                undecided += sum(not gap <= arb(rational(slack)) for gap in gaps)
        except (UnsupportedPrimitive, UndecidedComparison) as error:
            reason = Reason.BUDGET if isinstance(error, UnsupportedPrimitive) else Reason.UNDECIDED_COMPARISON
            return PointwiseBound(Status.INCONCLUSIVE, reason, str(error).rstrip("."), tuple(excesses), tuple(shares))
        if not gaps:
            detail = f"{where} has no entry, so there is nothing to bound"
            return PointwiseBound(Status.INCONCLUSIVE, Reason.NOT_DECIDABLE_YET, detail, tuple(excesses), tuple(shares))
        excesses.append(tuple(float(gap.mid()) for gap in gaps))
        shares += _shares(left, right)
        with flint.ctx.workprec(PRECISION):
            above = [float(gap.mid()) for gap in gaps if gap > 0]
        if above:
            detail = f"{where} exceeds the bound by {max(above):.3g}: a ball of the excess is positive"
            return PointwiseBound(Status.REFUTED, None, detail, tuple(excesses), tuple(shares))
    entries = sum(map(len, excesses))
    if undecided or not excesses:
        detail = f"balls of {undecided} of {many(entries, 'entry', 'entries')} hold the bound"
        reason = Reason.UNDECIDED_COMPARISON
        return PointwiseBound(Status.INCONCLUSIVE, reason, detail, tuple(excesses), tuple(shares))
    room = float(slack) - max(entry for point in excesses for entry in point)
    looked = f"{many(entries, 'entry', 'entries')} at {many(len(excesses), 'point')}"
    alone = "balls" if doubted is None or doubted >= len(points) else "floats with their account and balls"
    detail = f"{alone} of {looked} lie below the bound, the nearest by {room:.2g}"
    return PointwiseBound(Status.CERTIFIED, None, detail, tuple(excesses), tuple(shares))


def _in_floats(sides: AtPoint, slack: float) -> tuple[tuple[float, ...], list[float]] | None:
    """Excesses and shares at a point where floats with their account keep the bound; None where they leave it open.

    **Errors:** the account bounds the rounding of every execution that the error domain admits.
    """
    try:
        ((left, right),) = sides(FLOATS)
        with FLOATS.working():
            gap = FLOATS.binary("sub", left, right)
    except (UnsupportedPrimitive, UndecidedComparison):
        return None
    if not gap.value.size or not np.all(gap.value + gap.reach <= slack):  # a NaN is at most nothing
        return None
    pairs = zip(*(np.ravel(side) for side in np.broadcast_arrays(left.value, right.value)), strict=True)
    shares = [float(x / y) if y else 1.0 for x, y in pairs if y or not x]
    return tuple(np.ravel(gap.value).tolist()), shares


def _shares(left: np.ndarray, right: np.ndarray) -> list[float]:
    """Left over right, entry by entry, where right is not zero; of two zeros one."""
    pairs = zip(*(np.asarray(side).ravel().tolist() for side in np.broadcast_arrays(left, right)), strict=True)
    middles = ((float(x.mid()), float(y.mid())) for x, y in pairs)
    return [x / y if y else 1.0 for x, y in middles if y or not x]
