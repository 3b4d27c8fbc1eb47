"""Values that decay into rounding: the sizes of a sweep at which they are as small as rounding of numbers of order one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theorax.decide.estimators import CLEAR

__all__ = ["RoundingFloor", "rounding_floor"]

_ASTRAY = math.log(2)  # rounding is within a factor of two of a smaller value once in many
# Ten unit roundoffs of numbers of order one: what a value must stand elsewhere too (ten times the rounding seen).
_DOUBLE, _SINGLE = 10 * 2.0**-53, 10 * 2.0**-24
_AS_CLAIMED = 0.25  # of the claimed fall: what a power beside an exponential takes of it; rounding does not fall
_BELOW = 2.0**-10  # of the floor: differences of numbers of order one are no smaller, but zero


@dataclass(frozen=True)
class RoundingFloor:
    """An absolute floor that rounding gives the values, and the number of sizes, the smallest first, clear of it."""

    floor: float
    kept: int


def rounding_floor(values: Sequence[float], claimed: NDArray[np.float64]) -> RoundingFloor | None:
    """The floor of rounding that the values of the largest sizes have come to; None where they have not.

    ``claimed``: the logarithm of the claimed decay at every size. An error is a difference of numbers of order one, or of
    larger ones where the values are larger. Values below `CLEAR` floors of doubles are rounding, unless they fall as claimed
    to far below the floor: products of small factors do, and rounding does not. Single precision rounds by more than many
    honest errors: such values must also be off the claimed decay, from the last clear size on, by a factor of two where that
    decay has passed the floor.
    """
    found = np.asarray(values, float)
    scale = max(1.0, float(found.max()))
    for unit, must_stray in ((_DOUBLE, False), (_SINGLE, True)):
        clear = np.flatnonzero(found >= CLEAR * unit * scale)
        kept = int(clear[-1]) + 1 if clear.size else 0
        if not 0 < kept < len(found):
            continue
        with np.errstate(divide="ignore"):
            logs = np.log(found)
        expected = logs[kept - 1] + claimed[kept:] - claimed[kept - 1]
        astray = (np.abs(logs[kept:] - expected) > _ASTRAY) & (expected < math.log(unit * scale))
        with np.errstate(invalid="ignore"):  # of two values that are zero
            falls = np.diff(logs[kept - 1 :]) / np.diff(claimed[kept - 1 :])
        falls_on = found.min() < _BELOW * unit * scale and bool((np.abs(falls - 1) < _AS_CLAIMED).all())
        if not falls_on and (astray.any() or not must_stray):
            return RoundingFloor(unit * scale, kept)
    return None
