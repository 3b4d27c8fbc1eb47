"""Points at which every identity of own programs is looked at, whatever inputs are given.

Entries are dyadic rationals of few bits, so that sums and products of them are exact in balls. Half of the points lie in
the positive orthant: sides that are undefined elsewhere can still be supported there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

__all__ = ["PANEL", "RAYS", "Layout"]

_LARGEST = 20
_SHOWN = 6


@dataclass(frozen=True)
class Layout:
    """One point of the panel: signs and sizes of the entries, and those that are zero or equal.

    ``signs``: those drawn from; ``powers``: the range of k in the factor 2^k of each entry; ``zeros``: "one", "all" or
    none of the entries; ``equal``: the first two entries agree.
    """

    name: str
    signs: tuple[int, ...]
    powers: tuple[int, int] = (0, 0)
    zeros: str = ""
    equal: bool = False
    factor: float = 1.0  # of every entry: a point on the ray through this one

    def carry(self) -> Callable[[Any], Any]:
        """Entries leaf by leaf, in the order in which a program meets the leaves; made anew for every run."""
        entries = self._entries()

        def one(leaf: Any) -> np.ndarray:
            carried = np.empty(leaf.shape, dtype=object)
            for place in np.ndindex(carried.shape):
                carried[place] = arb(next(entries) * self.factor)  # a float: an exact point
            return carried

        return one

    def at(self, shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
        """The point as arrays of floats."""
        entries = self._entries()
        return [
            np.array([next(entries) for _ in range(int(np.prod(shape, dtype=np.int64)))]).reshape(shape)
            for shape in shapes
        ]

    def told(self, shapes: Sequence[tuple[int, ...]]) -> str:
        """The point in words, with its first entries."""
        entries = self._entries()
        count = sum(int(np.prod(shape, dtype=np.int64)) for shape in shapes)
        shown = ", ".join(f"{next(entries) * self.factor:.6g}" for _ in range(min(count, _SHOWN)))
        named = self.name if self.factor == 1 else f"{self.name}, beside a comparison"
        return f"an exact point of the panel, {named}: ({shown}{', ...' if count > _SHOWN else ''})"

    def _entries(self) -> Any:
        draws = random.Random(self.name)
        first, number = 0.0, 0
        while True:
            size = draws.randrange(17, 64) / 32
            entry = draws.choice(self.signs) * size * 2.0 ** draws.randint(*self.powers)
            if number == 0:
                first = entry
            if self.zeros == "all" or (self.zeros == "one" and number == 0):
                entry = 0.0
            elif self.equal and number == 1:
                entry = first
            yield entry
            number += 1


_UP, _DOWN, _MIXED = (1,), (-1,), (1, -1)
_WIDE = (-_LARGEST, _LARGEST)

RAYS = (Layout("all positive", _UP), Layout("mixed signs", _MIXED))
"""Points through which rays lead to both sides of the comparisons of a program."""

PANEL = (
    Layout("all positive", _UP),
    Layout("all positive, other numbers", _UP),
    Layout("all positive, sizes apart", _UP, _WIDE),
    Layout("all positive, sizes far apart", _UP, _WIDE),
    Layout("all positive and large", _UP, (_LARGEST, _LARGEST)),
    Layout("all positive and small", _UP, (-_LARGEST, -_LARGEST)),
    Layout("all positive, two equal", _UP, equal=True),
    Layout("all positive, two equal, sizes apart", _UP, (-4, 4), equal=True),
    Layout("all negative", _DOWN),
    Layout("all negative, sizes apart", _DOWN, _WIDE),
    Layout("mixed signs", _MIXED),
    Layout("mixed signs, sizes apart", _MIXED, _WIDE),
    Layout("mixed signs, sizes far apart", _MIXED, _WIDE),
    Layout("mixed signs, one zero", _MIXED, zeros="one"),
    Layout("mixed signs, two equal", _MIXED, equal=True),
    Layout("all zero", _MIXED, zeros="all"),
)
