r"""From draws to one `Interval`: scores, jackknife, bounded data, bounded variance, light tails, no randomness.

Which estimator is valid follows from what is declared: no interval for a mean holds under undeclared tails.

| declared | estimator |
|---|---|
| nothing random, errors bounded | `deterministic` |
| one value a size, nothing said of its error | `single` |
| scores near normal: logarithms, light tails | `paired`, `independent` |
| logarithm of a mean | `log_of_mean`, `log_of_mean_independent` |
| two values | `proportion` |
| a range | `betting` |
| a bound of the variance | `catoni` |
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theorax.decide.interval import TUNED_LEVEL, Betting, Catoni, Interval, Proportion, Student
from theorax.decide.status import Reason, Refusal
from theorax.errors import DesignError, ObservationError
from theorax.names import many

__all__ = [
    "Interval",
    "above_floor",
    "betting",
    "catoni",
    "deterministic",
    "independent",
    "log_of_mean",
    "log_of_mean_independent",
    "paired",
    "proportion",
    "pseudo_logs",
    "score_range",
    "score_variance",
    "scores",
    "single",
]

Vector = NDArray[np.float64]

_UNIT_ROUNDOFF = 2.0**-53

CLEAR = 50
"""Floors that a value must exceed: the floor then moves its logarithm by 0.02."""


def scores(values: ArrayLike, weights: ArrayLike = (1.0,)) -> Vector:
    """One number per draw: the weighted sum over the sizes of a table ``draws x sizes`` (or a column of draws)."""
    table = _finite(values)
    table = table[:, None] if table.ndim == 1 else table
    return table @ np.asarray(weights, float)


def paired(values: ArrayLike, weights: ArrayLike = (1.0,), bias: float = 0.0) -> Interval:
    """Scores of draws that share their seed over the sizes; valid for independent draws in equal number as well."""
    table = _finite(values)
    table = table[:, None] if table.ndim == 1 else table
    return _student(scores(table, weights), bias, _rounding(table, weights))


def independent(samples: Sequence[ArrayLike], weights: ArrayLike = (1.0,), bias: float = 0.0) -> Interval:
    """Samples drawn for each size on its own: variances add, Welch-Satterthwaite degrees of freedom."""
    k, columns = np.asarray(weights, float), [_finite(sample) for sample in samples]
    means = np.array([column.mean() for column in columns])
    rounding = sum(_rounding(column[:, None], k[i : i + 1]) for i, column in enumerate(columns))
    return _welch(float(k @ means), columns, k, bias, rounding)


def log_of_mean(values: ArrayLike, weights: ArrayLike = (1.0,), bias: float = 0.0) -> Interval:
    r"""$\sum_i k_i \log \bar q_i$ for paired draws, by the delete-one jackknife of the whole estimator.

    **Errors:** the level 0.025 holds to a log-standard-deviation of 0.6 and becomes 0.04 at 1: halve it there, or
    measure the mean of the logarithm.
    """
    table = _finite(values)
    table = table[:, None] if table.ndim == 1 else table
    pseudo = np.stack([pseudo_logs(column) for column in table.T], axis=1)
    return _student(scores(pseudo, weights), bias, _rounding(pseudo, weights))


def log_of_mean_independent(samples: Sequence[ArrayLike], weights: ArrayLike = (1.0,), bias: float = 0.0) -> Interval:
    """The same for samples drawn for each size on its own: pseudo-values per size, variances added."""
    return independent([pseudo_logs(_finite(sample)) for sample in samples], weights, bias)


def betting(values: ArrayLike, low: float, high: float, bias: float = 0.0) -> Interval:
    """The mean of data in a declared range, by betting; for scores give the range of the score (`score_range`)."""
    data = _ranged(values, low, high)
    return Betting(*_moments(data), bias, _rounding(data[:, None], (1.0,)), data, float(low), float(high))


def proportion(values: ArrayLike, low: float = 0.0, high: float = 1.0, bias: float = 0.0) -> Interval:
    """The mean of data that are declared to take the values ``low`` and ``high`` only, by Clopper-Pearson."""
    data = _ranged(values, low, high)
    if not np.isin(data, (low, high)).all():
        raise ObservationError(
            f"Data declared to take the values {low:g} and {high:g} take others. Their mean is no proportion. "
            "Declare a range instead."
        )
    successes = int((data == high).sum())
    estimate, se, df = _moments(data)
    return Proportion(estimate, se, df, bias, 0.0, successes, len(data), float(low), float(high))


def catoni(values: ArrayLike, variance: float, bias: float = 0.0) -> Interval:
    """The mean of data of declared variance; for scores give the variance of the score (`score_variance`).

    **Raises:** `Refusal` where there are no more than twice log(1/level) draws.
    """
    data = _finite(values)
    if not 0 < variance < math.inf:
        raise DesignError(
            f"A variance of at most {variance:g} was declared. It must bound the spread of the data. Write a "
            "positive bound."
        )
    if len(data) <= 2 * math.log(1 / TUNED_LEVEL):
        raise Refusal(
            Reason.UNDERPOWERED,
            f"A mean with a bounded variance alone needs more than {many(len(data), 'draw')}. "
            f"Write at least {many(math.floor(2 * math.log(1 / TUNED_LEVEL)) + 1, 'draw')}.",
        )
    _, se, df = _moments(data)
    rounding = _rounding(data[:, None], (1.0,))
    return Catoni(Catoni.centre(data, float(variance)), se, df, bias, rounding, data, float(variance))


def deterministic(values: ArrayLike, weights: ArrayLike = (1.0,), bias: float = 0.0) -> Interval:
    """A sequence without randomness: its error is the bias alone, which holds the bound of each value's error."""
    row = _finite(values)
    k = np.asarray(weights, float)
    return Student(float(k @ row), 0.0, math.inf, bias, _rounding(row[None], k))


def single(values: ArrayLike, weights: ArrayLike, rows: ArrayLike, bias: float = 0.0) -> Interval:
    r"""One random value a size, whose noise shows only in what the form leaves: Student's t from the residuals.

    ``rows``: the conditions of the weights, one a row. The estimate $k \cdot y$ and the residuals from rows and $k$
    together are independent where the noise has one variance, and corrections of the class only widen the interval.

    **Raises:** `Refusal` where no residual is left.
    """
    row, k = _finite(values), np.asarray(weights, float)
    seen = np.concatenate([np.atleast_2d(np.asarray(rows, float)), k[None]])
    left = np.linalg.svd(seen)[2][np.linalg.matrix_rank(seen) :]
    if not len(left):
        raise Refusal(
            Reason.NOISE_UNDECLARED,
            f"One value at each of {many(len(row), 'size')} shows no noise: the form takes up all of them. "
            'Write seeds="none" if they are exact, bound their errors, or draw several at every size.',
        )
    spread = math.sqrt(float(np.sum((left @ row) ** 2)) / len(left))
    error = spread * float(np.linalg.norm(k))
    return Student(float(k @ row), error, float(len(left)), bias, _rounding(row[None], k))


def score_range(weights: ArrayLike, low: ArrayLike, high: ArrayLike) -> tuple[float, float]:
    """The range of a weighted sum of values in [low, high], one range for all or one each."""
    k = np.asarray(weights, float)
    bottom, top = np.broadcast_to(np.asarray(low, float), k.shape), np.broadcast_to(np.asarray(high, float), k.shape)
    up, down = np.maximum(k, 0), np.minimum(k, 0)
    return float(up @ bottom + down @ top), float(up @ top + down @ bottom)


def score_variance(weights: ArrayLike, variance: float, independent: bool) -> float:
    """The largest variance of a weighted sum of values of at most this variance."""
    k = np.asarray(weights, float)
    return float(k @ k if independent else np.abs(k).sum() ** 2) * variance


def above_floor(means: ArrayLike, floor: float, least: int = 3) -> int:
    """Number of sizes that stay clear of an absolute numerical floor.

    A size is dropped with all larger ones when its mean is below `CLEAR` floors.

    **Raises:** `Refusal` when fewer than ``least`` sizes remain.
    """
    q = _finite(means)
    low = np.flatnonzero(q < CLEAR * floor)
    kept = int(low[0]) if low.size else len(q)
    if kept < least:
        raise Refusal(
            Reason.NUMERIC_FLOOR,
            f"Only {kept} of {many(len(q), 'size')} are above fifty times the numerical floor {floor:.1e}. The decay there "
            "is "
            f"rounding. Write smaller sizes, at least {least} of them above the floor, or a finer dtype.",
        )
    return kept


def _student(values: Vector, bias: float, rounding: float) -> Interval:
    return Student(*_moments(values), bias, rounding, (values,), (1.0,))


def _welch(estimate: float, columns: Sequence[Vector], k: Vector, bias: float, rounding: float) -> Interval:
    counts = np.array([len(column) for column in columns])
    if counts.min() < 2:
        raise ObservationError(
            f"{counts.min()} draw at one size has no spread. Write at least two draws at every size."
        )
    parts = k**2 * np.array([column.var(ddof=1) for column in columns]) / counts
    total = float(parts.sum())
    # Shares of the total, not parts: the square of a tiny variance is zero in floats.
    df = 1 / float(np.sum((parts / total) ** 2 / (counts - 1))) if total > 0 else float(counts.min() - 1)
    return Student(estimate, math.sqrt(total), df, bias, rounding, tuple(columns), tuple(map(float, k)))


def _moments(values: Vector) -> tuple[float, float, float]:
    """Mean, standard error, degrees of freedom; equal values have no spread, whatever their mean rounds to."""
    if len(values) < 2:
        raise ObservationError(f"{len(values)} draw has no spread. Write at least two draws.")
    if (values == values[0]).all():
        return float(values[0]), 0.0, float(len(values) - 1)
    return float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values)), float(len(values) - 1)


def pseudo_logs(column: Vector) -> Vector:
    """Pseudo-values m log(mean) - (m-1) log(mean without one)."""
    count = len(column)
    if count < 2:
        raise ObservationError(f"{count} draw cannot be left out. Write at least two draws at every size.")
    without = (column.sum() - column) / (count - 1)
    if column.mean() <= 0 or without.min() <= 0:
        raise ObservationError(
            "The mean of draws whose logarithm is asked is not positive. A rate is read off a positive quantity. "
            "Observe its absolute value or its square."
        )
    return count * math.log(column.mean()) - (count - 1) * np.log(without)


def _rounding(table: Vector, weights: ArrayLike) -> float:
    """A sum of m terms in any order errs by at most (m-1) u / (1 - (m-1) u) times the sum of their absolute values."""
    count = sum(table.shape) + 2
    relative = count * _UNIT_ROUNDOFF / (1 - count * _UNIT_ROUNDOFF)
    return relative * float(np.abs(table).mean(axis=0) @ np.abs(np.asarray(weights, float)))


def _finite(values: ArrayLike) -> Vector:
    data = np.asarray(values, float)
    if data.size == 0 or not np.isfinite(data).all():
        raise ObservationError(
            f"An array of shape {data.shape} is empty or holds values that are not finite. No mean can be formed. "
            "Observe a finite quantity in every draw."
        )
    return data


def _ranged(values: ArrayLike, low: float, high: float) -> Vector:
    data = _finite(values)
    if not low < high or data.min() < low or data.max() > high:
        raise ObservationError(
            f"Data declared to lie in [{low:g}, {high:g}] reach from {data.min():g} to {data.max():g}. "
            "An interval for the mean would be void. Declare the range that the quantity cannot leave."
        )
    return data
