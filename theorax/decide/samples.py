"""The numbers that a user brings: checked against the plan, every refusal a sentence that names row and column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from theorax.decide.designs import Policy
from theorax.decide.plans import Seeds, SweepPlan
from theorax.decide.summaries import Moments, Summary
from theorax.decide.verdict import Point
from theorax.errors import ObservationError

__all__ = ["Gathered", "above_zero", "by_size", "gather", "gather_logs", "numbers"]

Vector = NDArray[np.float64]
Columns = list[Vector]


def numbers(values: Any, what: str = "The values") -> Vector:
    """An array of floats.

    **Raises:** `ObservationError` for ragged nesting, text, complex numbers, or nothing at all.
    """
    try:
        data = np.asarray(values)
        if data.dtype.kind not in "biuf":
            raise ValueError(data.dtype)
    except ValueError:
        raise ObservationError(
            f"{what} are no array of numbers: rows of different lengths, text or complex entries are among them. "
            "Write a rectangular array of real numbers."
        ) from None
    if not data.size:
        raise ObservationError(
            f"{what} are empty (shape {data.shape}). Nothing can be decided from them. Observe some."
        )
    return data.astype(float, copy=False)


def by_size(plan: SweepPlan, values: Any) -> Columns:
    """One column of draws per size, as many as planned.

    An array of two dimensions is a table ``draws x sizes``; any other sequence holds one array per size.

    **Raises:** `ObservationError` where shapes differ from the plan's, or a value is not finite: naming row and size.
    """
    columns = _columns(plan, values)
    counts = plan.core.planned_draws
    for at, (column, size, count) in enumerate(zip(columns, plan.sizes, counts, strict=True)):
        if len(column) != count:
            more = (
                "More draws than planned let a look at the data decide when to stop; fewer make the plan's power void."
            )
            raise ObservationError(
                f"{len(column)} draws were given at {plan.letter} = {size:g} (size {at + 1}), {count} were planned. "
                f"{more} Hand over what was planned, or plan draws={len(column)} before drawing anew."
            )
        bad = np.flatnonzero(~np.isfinite(column))
        if bad.size:
            raise ObservationError(
                f"Draw {bad[0] + 1} at {plan.letter} = {size:g} (size {at + 1}) is {column[bad[0]]:g}. No mean can be "
                "formed with it. Observe a finite quantity in every draw."
            )
    return columns


def above_zero(plan: SweepPlan, columns: Columns) -> Columns:
    """The same columns, if their logarithms can be taken.

    **Raises:** `ObservationError` naming the first draw and size that is not positive.
    """
    for at, (column, size) in enumerate(zip(columns, plan.sizes, strict=True)):
        bad = np.flatnonzero(~(column > 0))
        if bad.size:
            raise ObservationError(
                f"Draw {bad[0] + 1} at {plan.letter} = {size:g} (size {at + 1}) is {column[bad[0]]:g}. A rate is read "
                "off logarithms, which only positive numbers have. Observe an absolute value or a square."
            )
    return columns


@final
@dataclass(frozen=True, eq=False)
class Gathered:
    """What a decision needs of the draws: the moments of y, those of the values themselves, and what a table shows.

    ``columns`` holds the values where a procedure needs every one of them; a streamed file has none.
    """

    summary: Summary
    raw: tuple[Moments, ...]
    points: tuple[Point, ...]
    columns: tuple[Vector, ...] = ()


def gather(plan: SweepPlan, columns: Columns) -> Gathered:
    """Draws of a quantity whose mean is asked for."""
    raw = tuple(map(Moments.of, columns))
    points = tuple(mean_point(size, part) for size, part in zip(plan.sizes, raw, strict=True))
    return Gathered(_summarised(plan, columns), raw, points, tuple(columns))


def gather_logs(plan: SweepPlan, columns: Columns) -> Gathered:
    """Draws of a positive quantity, of whose logarithms the mean is asked for."""
    logs = [np.log(column) for column in columns]
    summary = _summarised(plan, logs)
    parts = zip(plan.sizes, summary.counts, summary.means, np.diag(summary.covariance), strict=True)
    points = tuple(log_point(size, count, float(mean), float(variance)) for size, count, mean, variance in parts)
    return Gathered(summary, tuple(map(Moments.of, columns)), points, tuple(columns))


def mean_point(size: float, part: Moments) -> Point:
    """Mean and standard error at one size."""
    deviation = math.sqrt(part.squares / (part.count - 1) / part.count) if part.count > 1 else None
    return Point(float(size), part.mean, deviation, part.count)


def log_point(size: float, count: int, mean: float, variance: float) -> Point:
    """Geometric mean at one size, with its standard error to first order."""
    middle = math.exp(mean)
    return Point(float(size), middle, middle * math.sqrt(variance / count), count)


def _summarised(plan: SweepPlan, columns: Columns) -> Summary:
    if plan.core.policy is Policy.PAIRED:
        return Summary.of_table(np.stack(columns, axis=1))
    return Summary.of_columns(columns)


def _columns(plan: SweepPlan, values: Any) -> Columns:
    count, wanted = len(plan.sizes), f"{len(plan.sizes)} sizes were planned"
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind != "O":
        raise ObservationError(
            f"An array of shape {values.shape} was given where {wanted}. It does not say which draw belongs to which "
            "size. Write a table draws x sizes, or one array per size."
        )
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        table = numbers(values)
        if table.ndim != 2 or table.shape[1] != count:
            turned = " It looks transposed." if table.ndim == 2 and table.shape[0] == count else ""
            raise ObservationError(
                f"An array of shape {table.shape} was given where {wanted}.{turned} "
                f"Write a table draws x sizes, {count} columns wide."
            )
        return list(table.T)
    if not isinstance(values, Sequence | np.ndarray):
        raise ObservationError(
            f"A {type(values).__name__} was given where {wanted}. Write a table draws x sizes, or one array per size."
        )
    if len(values) != count:
        raise ObservationError(f"{len(values)} arrays of draws were given where {wanted}. Write one array per size.")
    columns = [numbers(column, f"The draws at {plan.letter} = {plan.sizes[at]:g}") for at, column in enumerate(values)]
    if any(column.ndim != 1 for column in columns):
        shapes = ", ".join(str(column.shape) for column in columns)
        raise ObservationError(f"Arrays of shapes {shapes} were given, one per size. Each is a plain list of draws.")
    plain = not any(isinstance(column, np.ndarray) for column in values)
    if plain and all(len(column) == count for column in columns) and plan.seeds is not Seeds.INDEPENDENT:
        raise ObservationError(
            f"A list of {count} lists of {count} numbers was given. It does not say whether rows are draws or sizes. "
            "Write np.array(...) for a table draws x sizes, or a list of arrays for one array per size."
        )
    return columns
