"""An interval beside its margin on one line: the claimed value in the middle, the margin as the two ends."""

from __future__ import annotations

import math
from dataclasses import dataclass

from theorax.text.numbers import number

CELLS = 41
END = 14  # the columns before the left bracket, in which its number is set flush right
EMPTY, INSIDE, CLAIMED, BOTH, ESTIMATE = "·", "━", "│", "┿", "●"


@dataclass(frozen=True)
class Bar:
    """Interval, estimate and claimed value in the room of the margin; an end that bounds nothing is open."""

    claimed: float
    margin: float
    low: float
    high: float
    estimate: float | None = None
    open_below: bool = False
    open_above: bool = False

    def line(self) -> str:
        """The line, or an empty one where the interval misses the room: its end cells say where it leaves.

        >>> Bar(7.0, 0.88, 6.25, 7.23, 6.74).line()
        '          6.12 ├···━━━━━━━━━━━●━━━━━┿━━━━━···············┤ 7.88'
        >>> Bar(2.0, 0.1, 1.7, 2.3, 2.03).line()
        '           1.9 ├◀━━━━━━━━━━━━━━━━━━━┿━━━━━●━━━━━━━━━━━━━▶┤ 2.1'
        >>> Bar(2.0, 0.1, 2.2, 2.3, 2.25).line()
        ''
        """
        left, right = self.claimed - self.margin, self.claimed + self.margin
        if not (math.isfinite(left) and math.isfinite(right) and left < right) or self.low > right or self.high < left:
            return ""
        cells = [EMPTY] * CELLS
        for at in range(self._cell(self.low), self._cell(self.high) + 1):
            cells[at] = INSIDE
        middle = CELLS // 2
        cells[middle] = BOTH if cells[middle] == INSIDE else CLAIMED
        if self.low < left:
            cells[0] = "◀"
        if self.high > right:
            cells[-1] = "▶"
        if self.estimate is not None and left <= self.estimate <= right:
            cells[self._cell(self.estimate)] = ESTIMATE
        near = "" if self.open_below else number(left, 3)
        far = "" if self.open_above else f" {number(right, 3)}"
        opening, closing = " " if self.open_below else "├", "" if self.open_above else "┤"
        return f"{near:>{END}} {opening}{''.join(cells)}{closing}{far}"

    def _cell(self, value: float) -> int:
        """The cell of a value; values outside the room belong to its first or last cell."""
        share = (value - self.claimed + self.margin) / (2 * self.margin)
        return min(CELLS - 1, max(0, round(share * (CELLS - 1))))
