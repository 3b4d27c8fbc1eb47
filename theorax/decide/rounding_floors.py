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
_FALLING = 1000.0  # means of rounding at two sizes are of one order


@dataclass(frozen=True)
class RoundingFloor:
    """An absolute floor that rounding gives the values, and the number of sizes, the smallest first, clear of it."""

    floor: float
    kept: int


def rounding_floor(values: Sequence[float], claimed: NDArray[np.float64]) -> RoundingFloor | None:
    """The floor of rounding that the values of the largest sizes have come to; None where they have not.

    ``claimed``: the logarithm of the claimed decay at every size. An error is a difference of numbers of order one, or of
    larger ones where the values are larger. Values below `CLEAR` floors of doubles are rounding. Single precision rounds
    by more than many honest errors: such values must also be off the claimed decay, from the last clear size on, by a factor
    of two where that decay has passed the floor. Values that still fall far below a unit roundoff are of a program that keeps
    its digits there, such as a product: there is no floor.
    """
    found = np.asarray(values, float)
    scale = max(1.0, float(found.max()))
    if len(found) > 1 and found[-2] < _DOUBLE / 10 * scale and found[-1] < found[-2] / _FALLING:
        return None
    for unit, must_stray in ((_DOUBLE, False), (_SINGLE, True)):
        clear = np.flatnonzero(found >= CLEAR * unit * scale)
        kept = int(clear[-1]) + 1 if clear.size else 0
        if not 0 < kept < len(found):
            continue
        expected = np.log(found[kept - 1]) + claimed[kept:] - claimed[kept - 1]
        astray = np.abs(np.log(found[kept:]) - expected) > _ASTRAY
        if not must_stray or (astray & (expected < math.log(unit * scale))).any():
            return RoundingFloor(unit * scale, kept)
    return None
