"""Draws that come in pieces: one pass, memory that does not grow with their number.

Up to `KEPT` values every one is kept. Beyond that draw j of a size is added to batch j mod `BATCHES` of that size, and
the batch means are the draws: a batch holds the same draws at every size, so pairs stay together, batches are
independent, and their unweighted mean and its usual standard error are unbiased even where batches differ by a draw.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theorax.decide.plans import SweepPlan
from theorax.decide.samples import Columns
from theorax.decide.verdict import Point
from theorax.errors import ObservationError
from theorax.names import many

__all__ = ["BATCHES", "KEPT", "MOST_SIZES", "RunningMoments", "Stream"]

Vector = NDArray[np.float64]

KEPT = 2**20
BATCHES = 1024  # so many degrees of freedom that Student's t is normal to the third digit
MOST_SIZES = 10_000


@final
@dataclass(frozen=True)
class RunningMoments:
    """Count, mean and sum of squared deviations of one sample; merged without seeing it again.

    **Source:** Chan et al. 1983.
    """

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, values: ArrayLike) -> RunningMoments:
        """The moments of a sample."""
        y = np.asarray(values, float)
        if not y.size:
            return cls()
        if (y == y.flat[0]).all():  # equal values have no spread, whatever their mean rounds to
            return cls(y.size, float(y.flat[0]))
        mean = float(y.mean())
        return cls(y.size, mean, float(np.sum((y - mean) ** 2)))

    def __add__(self, other: RunningMoments) -> RunningMoments:
        count = self.count + other.count
        if not (self.count and other.count):
            return self if self.count else other
        share, apart = other.count / count, other.mean - self.mean
        return RunningMoments(
            count,
            self.mean + share * apart,
            self.squares + other.squares + apart * share * apart * self.count,
        )

    def point(self, size: float, logs: bool) -> Point:
        """Mean and standard error; of logarithms the geometric mean, its error to first order."""
        deviation = math.sqrt(self.squares / (self.count - 1) / self.count) if self.count > 1 and self.squares else None
        if not logs:
            return Point(size, self.mean, deviation, self.count)
        middle = math.exp(self.mean)
        return Point(size, middle, None if deviation is None else middle * deviation, self.count)


@final
@dataclass
class Stream:
    """Accumulates draws by size; ``logs`` if it is their logarithms that are averaged.

    ``keep``: a procedure needs every value (a jackknife, betting, a law), so memory grows by eight bytes a draw.
    """

    logs: bool
    keep: bool = False
    moments: dict[float, RunningMoments] = field(default_factory=dict)
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
            self.moments[size] = self.moments.get(size, RunningMoments()) + RunningMoments.of(y)
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
        """Number of draws at each size, the sizes in increasing order."""
        return {size: self.moments[size].count for size in sorted(self.moments)}

    @property
    def columns(self) -> Columns:
        """Every value by size, in the order in which they came; means of batches where they were too many to keep."""
        if self._values is not None:
            return Columns(tuple(np.concatenate(self._values[size]) for size in self.counts))
        points = tuple(self.moments[size].point(size, self.logs) for size in self.counts)
        means = tuple(map(self._batch_means, self.counts))
        return Columns(means, batched=True, logs=self.logs, points=points)

    def for_plan(self, plan: SweepPlan) -> Columns:
        """The statistics that a decision under this plan needs.

        **Raises:** `ObservationError` where sizes or numbers of draws are not those planned.
        """
        planned = dict(zip(plan.sizes, plan.core.planned_draws, strict=True))
        if self.counts != planned:
            size = next(size for size in sorted({*planned, *self.counts}) if self.counts.get(size) != planned.get(size))
            raise ObservationError(
                f"The stream holds {many(self.counts.get(size, 0), 'draw')} at {plan.letter} = {size:g}, "
                f"the plan {planned.get(size, 0)}. Hand over what was planned."
            )
        return self.columns

    def _batch_means(self, size: float) -> Vector:
        count = self.counts[size]
        filled = min(BATCHES, count)
        each = (count - np.arange(filled) + BATCHES - 1) // BATCHES
        return self._sums[size][:filled] / each

    def _fold(self, size: float, y: Vector) -> None:
        start = self.moments[size].count if size in self.moments else 0
        sums = self._sums.setdefault(size, np.zeros(BATCHES))
        sums += np.bincount((start + np.arange(len(y))) % BATCHES, weights=y, minlength=BATCHES)
