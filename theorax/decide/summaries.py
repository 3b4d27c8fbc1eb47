r"""Draws reduced to what weighted means need: counts, means, covariances; made in one pass and merged.

The weighted mean $\sum_i k_i \bar y_i$ and its standard error are functions of the means and of the covariance of the
$y_i$, whatever the weights are. So the same summary serves the planned weights, those of larger classes, and the misfit
alarm, and a file of any length is read once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theorax.decide.interval import Interval, Student
from theorax.errors import ObservationError

__all__ = ["Moments", "Summary"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

_UNIT_ROUNDOFF = 2.0**-53


@final
@dataclass(frozen=True)
class Moments:
    """Count, mean, sum of squared deviations and mean magnitude of one sample; merged without seeing it again.

    **Source:** Chan et al. 1983.
    """

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    magnitude: float = 0.0

    @classmethod
    def of(cls, values: ArrayLike) -> Moments:
        """The moments of a sample."""
        y = np.asarray(values, float)
        if not y.size:
            return cls()
        if (y == y.flat[0]).all():  # equal values have no spread, whatever their mean rounds to
            return cls(y.size, float(y.flat[0]), 0.0, abs(float(y.flat[0])))
        mean = float(y.mean())
        return cls(y.size, mean, float(np.sum((y - mean) ** 2)), float(np.abs(y).mean()))

    def __add__(self, other: Moments) -> Moments:
        count = self.count + other.count
        if not (self.count and other.count):
            return self if self.count else other
        share, apart = other.count / count, other.mean - self.mean
        return Moments(
            count,
            self.mean + share * apart,
            self.squares + other.squares + apart * share * apart * self.count,
            self.magnitude + share * (other.magnitude - self.magnitude),
        )


@final
@dataclass(frozen=True, eq=False)
class Summary:
    """What is known of the draws at every size: how many, their means, the covariance of one draw over the sizes.

    ``paired``: draw s at one size belongs to draw s at every other, so the covariance is full; else it is diagonal.
    ``magnitudes`` are the mean absolute values, which bound the rounding of the means.
    """

    counts: tuple[int, ...]
    means: Vector
    covariance: Matrix
    magnitudes: Vector
    paired: bool

    @classmethod
    def of_table(cls, values: ArrayLike) -> Summary:
        """Of a table ``draws x sizes``, each row one draw at every size."""
        table = np.asarray(values, float)
        count, sizes = table.shape
        if count < 2:
            raise ObservationError(f"{count} draw has no spread. Write at least two draws.")
        means = table.mean(axis=0)
        deviations = table - means
        deviations[:, (table == table[0]).all(axis=0)] = 0.0
        covariance = deviations.T @ deviations / (count - 1)
        return cls((count,) * sizes, means, covariance, np.abs(table).mean(axis=0), paired=True)

    @classmethod
    def of_moments(cls, columns: Sequence[Moments]) -> Summary:
        """Of samples drawn for each size on its own."""
        counts = tuple(column.count for column in columns)
        if min(counts) < 2:
            raise ObservationError(f"{min(counts)} draw at one size has no spread. Write at least two at every size.")
        variances = [column.squares / (column.count - 1) for column in columns]
        means, magnitudes = [c.mean for c in columns], [c.magnitude for c in columns]
        return cls(counts, np.array(means), np.diag(variances), np.array(magnitudes), paired=False)

    @classmethod
    def of_columns(cls, samples: Sequence[ArrayLike]) -> Summary:
        """Of one array per size, drawn for each size on its own."""
        return cls.of_moments([Moments.of(y) for y in samples])

    def first(self, sizes: int) -> Summary:
        """Of the smallest sizes alone."""
        part = slice(sizes)
        return Summary(
            self.counts[:sizes], self.means[part], self.covariance[part, part], self.magnitudes[part], self.paired
        )

    def interval(self, weights: ArrayLike, bias: float = 0.0) -> Interval:
        r"""Student's interval of the weighted mean: scores where draws are paired, Welch-Satterthwaite where not.

        **Errors:** the rounding bound is that of means of ``count`` terms. Where the spread that the draws have in
        common cancels in the scores, what is left of $k^T C k$ is rounding of at most $c\,u\,(\sum |k_i| s_i)^2$, which
        is added: the standard error may come out too large by that, never too small.
        """
        k = np.asarray(weights, float)
        spreads = np.sqrt(np.diag(self.covariance))
        relative = (max(self.counts) + len(k) + 2) * _UNIT_ROUNDOFF
        rounding = relative / (1 - relative) * float(np.abs(k) @ self.magnitudes)
        estimate = float(k @ self.means)
        if self.paired:
            count = self.counts[0]
            # Each entry of C errs by at most (count + 2) u s_i s_j, to first order.
            lost = (count + 2) * _UNIT_ROUNDOFF * float(np.abs(k) @ spreads) ** 2
            variance = max(float(k @ self.covariance @ k), 0.0) + lost
            return Student(estimate, math.sqrt(variance / count), float(count - 1), bias, rounding)
        counts = np.asarray(self.counts)
        parts = (k * spreads) ** 2 / counts
        total = float(parts.sum())
        df = total**2 / float(np.sum(parts**2 / (counts - 1))) if total > 0 else float(counts.min() - 1)
        return Student(estimate, math.sqrt(total), df, bias, rounding)
