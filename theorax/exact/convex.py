r"""Lower bounds of convex functions on a box: one tangent plane, at a point near the least value.

Where the Hessian is positive semidefinite on all of a box, $f(x) \ge f(p) + \nabla f(p) \cdot (x - p)$ for all $x$ and
$p$ in it. With $p$ near the minimum the gradient nearly vanishes, and the bound is nearly attained: a valley whose floor
is flat in one direction needs no small boxes.
"""

from __future__ import annotations

from typing import Any

import flint
import numpy as np
from flint import arb, fmpq

from theorax.exact.enclosures import Box, Enclosure
from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive

__all__ = ["tangent"]

STEPS = 4  # of Newton's method, projected onto the box: where they end decides how good the bound is, never whether


def tangent(function: Enclosure, box: Box, precision: int) -> arb | None:
    """A lower bound of the function on the box, if it is known to be convex there.

    The caller has enclosed the function's values on the box, so that nothing jumps inside it (guard ii); here the
    gradient's program must not jump either.
    """
    gradient = function.gradient
    if gradient is None:
        return None
    try:
        hessian = _hessian(gradient, box, precision)
        if hessian is None or not _semidefinite(hessian, precision):
            return None
        point = _low_point(gradient, hessian, box, precision)
        slopes, value = gradient.all_at(point, precision), function.at(point, precision)
        checked = function.over([(x, x) for x in point], precision).slopes
    except (UndecidedComparison, UnsupportedPrimitive):
        return None
    with flint.ctx.workprec(precision):
        # Two derivations of one derivative; if they exclude each other, neither is believed.
        if checked is None or not all(s.overlaps(t) for s, t in zip(slopes, checked, strict=True)):
            return None
        falls = [_fall(s, x, side) for s, x, side in zip(slopes, point, box.sides, strict=True)]
        return value - sum(falls, arb(0))


def _fall(slope: arb, x: fmpq, side: tuple[fmpq, fmpq]) -> arb:
    """The largest descent of a plane of this slope inside the side, seen from x."""
    down, up = slope * arb(x - side[0]), -slope * arb(side[1] - x)
    return down.max(up).max(arb(0))


def _hessian(gradient: Enclosure, box: Box, precision: int) -> Any:
    rows = [row.slopes or (arb(0),) * len(box.sides) for row in gradient.all_over(box.sides, precision)]
    return rows if all(entry.is_finite() for row in rows for entry in row) else None


def _semidefinite(hessian: Any, precision: int) -> bool:
    """True if every symmetric matrix in these balls is positive semidefinite: by discs, in two dimensions by minors."""
    with flint.ctx.workprec(precision):
        size = range(len(hessian))
        if any(not hessian[i][i] >= 0 for i in size):
            return False
        if all(hessian[i][i] >= sum((hessian[i][j].abs_upper() for j in size if j != i), arb(0)) for i in size):
            return True
        return len(hessian) == 2 and bool(
            hessian[0][0] * hessian[1][1] >= hessian[0][1].abs_upper() * hessian[1][0].abs_upper()
        )


def _low_point(gradient: Enclosure, hessian: Any, box: Box, precision: int) -> tuple[fmpq, ...]:
    """A point of the box where the function is low, by steps of Newton's method that stay inside."""
    matrix = np.asarray([[float(entry.mid()) for entry in row] for row in hessian])
    low, high = box.ends
    here = (low + high) / 2
    for _ in range(STEPS):
        slopes = np.asarray([float(s.mid()) for s in gradient.all_at(box.exact(here), precision)])
        if not np.isfinite(slopes).all():
            break
        # Coordinates that the gradient pushes against a side are held there.
        free = ~(((here <= low) & (slopes >= 0)) | ((here >= high) & (slopes <= 0)))
        if not free.any():
            break
        step = np.zeros_like(here)
        step[free] = np.linalg.lstsq(matrix[np.ix_(free, free)], -slopes[free], rcond=None)[0]
        here = np.clip(here + step, low, high)
    return box.exact(here)
