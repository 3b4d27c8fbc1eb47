"""Draws that come in pieces: one pass, memory that does not grow with their number.

Up to `KEPT` values every one is kept. Beyond that draw j of a size is added to batch j mod `BATCHES` of that size, and
the batch means are the draws: a batch holds the same draws at every size, so pairs stay together, batches are
independent, and their unweighted mean and its usual standard error are unbiased even where batches differ by a draw.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from theorax.decide.designs import Policy
from theorax.decide.plans import SweepPlan
from theorax.decide.samples import Gathered, log_point, mean_point
from theorax.decide.summaries import Moments, Summary
from theorax.errors import ObservationError

__all__ = ["BATCHES", "KEPT", "MOST_SIZES", "Stream"]

Vector = NDArray[np.float64]

KEPT = 2**20
BATCHES = 1024  # so many degrees of freedom that Student's t is normal to the third digit
MOST_SIZES = 10_000


@final
@dataclass
class Stream:
    """Accumulates draws by size; ``logs`` if it is their logarithms that are averaged.

    ``keep``: a procedure needs every value (a jackknife, betting, a law), so memory grows by eight bytes a draw.
    """

    logs: bool
    keep: bool = False
    moments: dict[float, Moments] = field(default_factory=dict)
    raw: dict[float, Moments] = field(default_factory=dict)
    _values: dict[float, list[Vector]] | None = field(default_factory=dict)
    _sums: dict[float, Vector] = field(default_factory=dict)
    _total: int = 0

    def add(self, sizes: Vector, values: Vector) -> None:
        """Draws with their sizes, in the order in which they came; all finite, and positive where logs are taken."""
        found, place = np.unique(sizes, return_inverse=True)
        if len(self.moments) + len(found) > MOST_SIZES:
            raise ObservationError(
                f"More than {MOST_SIZES} different sizes were met. A sweep has a few sizes with many draws at each. "
                "Name the column that holds the size."
            )
        self._total += len(values)
        order = np.argsort(place, kind="stable")
        ends = np.searchsorted(place[order], np.arange(1, len(found)))
        for size, part in zip(map(float, found), np.split(values[order], ends), strict=True):
            y = np.log(part) if self.logs else part
            if self._values is not None:
                self._values.setdefault(size, []).append(part)
            else:
                self._fold(size, y)
            self.moments[size] = self.moments.get(size, Moments()) + Moments.of(y)
            self.raw[size] = self.raw.get(size, Moments()) + Moments.of(part)
        if self._values is not None and self._total > KEPT and not self.keep:
            kept, self._values = self._values, None
            counted = dict(self.moments)
            self.moments = {}
            for size, parts in kept.items():
                y = np.concatenate(parts)
                self._fold(size, np.log(y) if self.logs else y)
            self.moments = counted

    @property
    def counts(self) -> dict[float, int]:
        """How many draws there are at each size, the sizes in increasing order."""
        return {size: self.moments[size].count for size in sorted(self.moments)}

    @property
    def columns(self) -> tuple[Vector, ...]:
        """Every value by size; none where they were too many to keep."""
        if self._values is None:
            return ()
        return tuple(np.concatenate(self._values[size]) for size in self.counts)

    def for_plan(self, plan: SweepPlan) -> Gathered:
        """What a decision under this plan needs.

        **Raises:** `ObservationError` where sizes or numbers of draws are not those planned.
        """
        planned = dict(zip(plan.sizes, plan.core.planned_draws, strict=True))
        if self.counts != planned:
            size = next(size for size in sorted({*planned, *self.counts}) if self.counts.get(size) != planned.get(size))
            raise ObservationError(
                f"{self.counts.get(size, 0)} draws were streamed at {plan.letter} = {size:g}, "
                f"{planned.get(size, 0)} were planned. Hand over what was planned."
            )
        return self.gathered(paired=plan.core.policy is Policy.PAIRED)

    def gathered(self, *, paired: bool) -> Gathered:
        """What a decision needs; draws are paired in the order in which they came at each size."""
        sizes, columns = list(self.counts), self.columns
        parts = [self.moments[size] for size in sizes]
        if not paired:
            summary = Summary.of_moments(parts)
        elif columns:
            summary = Summary.of_table(np.stack([np.log(c) if self.logs else c for c in columns], axis=1))
        else:
            count = parts[0].count
            filled = np.minimum(BATCHES, count)
            each = (count - np.arange(filled) + BATCHES - 1) // BATCHES
            summary = Summary.of_table(np.stack([self._sums[size][:filled] / each for size in sizes], axis=1))
        raw = tuple(self.raw[size] for size in sizes)
        if self.logs:
            points = tuple(
                log_point(size, part.count, part.mean, part.squares / max(1, part.count - 1))
                for size, part in zip(sizes, parts, strict=True)
            )
        else:
            points = tuple(mean_point(size, part) for size, part in zip(sizes, raw, strict=True))
        return Gathered(summary, raw, points, columns)

    def _fold(self, size: float, y: Vector) -> None:
        start = self.moments[size].count if size in self.moments else 0
        sums = self._sums.setdefault(size, np.zeros(BATCHES))
        sums += np.bincount((start + np.arange(len(y))) % BATCHES, weights=y, minlength=BATCHES)
