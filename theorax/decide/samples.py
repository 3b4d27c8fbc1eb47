"""The numbers that a user brings: checked against the plan, every refusal a sentence that names row and column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from theorax.decide.plans import Seeds, SweepPlan
from theorax.decide.verdict import Point
from theorax.errors import ObservationError
from theorax.names import many

__all__ = ["Columns", "above_zero", "by_size", "float_array", "geometric_point", "mean_point"]

Vector = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class Columns:
    """Observations at every size, the smallest first, with bounds of the error of each value.

    ``errors``: for every size one bound per draw, or one for all; none where the values are taken as exact.
    ``batched``: the values are means of batches of draws, made in passing, of logarithms where ``logs`` is set.
    ``points``: what a table shows of them, where it cannot be read off the values.
    ``variates``: for every size a table ``draws x variates`` of quantities of known mean, and bounds of their errors,
    one per draw and variate or one row for all.
    """

    values: tuple[Vector, ...]
    errors: tuple[Vector, ...] = ()
    batched: bool = False
    logs: bool = False
    points: tuple[Point, ...] = ()
    variates: tuple[Vector, ...] = ()
    variate_errors: tuple[Vector, ...] = ()

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of draws at every size."""
        return tuple(map(len, self.values))

    @property
    def bounds(self) -> tuple[Vector, ...]:
        """The bounds of the errors at every size: zero where the values are taken as exact."""
        return self.errors or (np.zeros(1),) * len(self.values)

    def first(self, kept: int) -> Columns:
        """The observations at the smallest sizes, so many of them."""
        parts = {
            name: getattr(self, name)[:kept] for name in ("values", "errors", "points", "variates", "variate_errors")
        }
        return replace(self, **parts)

    def single(self, sizes: Sequence[float]) -> Vector:
        """One value per size of what is declared to hold no randomness.

        **Raises:** `ObservationError` where two draws give two values.
        """
        for size, column in zip(sizes, self.values, strict=True):
            if (column != column[0]).any():
                raise ObservationError(
                    f'An experiment with seeds="none" gave different values for different keys at size {size:g}. '
                    'A sequence without randomness has one value at each size. Write seeds="independent", or do not use '
                    "the key."
                )
        return np.array([float(column[0]) for column in self.values])


def float_array(values: Any, what: str = "The values") -> Vector:
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


def by_size(plan: SweepPlan, values: Any) -> tuple[Vector, ...]:
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
                f"The data hold {many(len(column), 'draw')} at {plan.letter} = {size:g} (size {at + 1}), the plan {count}. "
                f"{more} Hand over what was planned, or plan draws={len(column)} before drawing anew."
            )
        bad = np.flatnonzero(~np.isfinite(column))
        if bad.size:
            raise ObservationError(
                f"Draw {bad[0] + 1} at {plan.letter} = {size:g} (size {at + 1}) is {column[bad[0]]:g}. No mean can be "
                "formed with it. Observe a finite quantity in every draw."
            )
    return tuple(columns)


def above_zero(plan: SweepPlan, columns: tuple[Vector, ...]) -> tuple[Vector, ...]:
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


def mean_point(size: float, values: Vector) -> Point:
    """Mean and standard error of the draws at one size; no error where they have no spread."""
    if len(values) < 2 or (values == values[0]).all():
        return Point(float(size), float(values.mean()), None, len(values))
    deviation = float(values.std(ddof=1) / np.sqrt(len(values)))
    return Point(float(size), float(values.mean()), deviation, len(values))


def geometric_point(size: float, values: Vector) -> Point:
    """The geometric mean with its standard error to first order; the mean where values are not positive."""
    if not (values > 0).all() or len(values) < 2 or (values == values[0]).all():
        return Point(float(size), float(values.mean()), None, len(values))
    logs = np.log(values)
    middle, spread = float(np.exp(logs.mean())), float(logs.std(ddof=1) / np.sqrt(len(logs)))
    return Point(float(size), middle, middle * spread, len(logs))


def _columns(plan: SweepPlan, values: Any) -> list[Vector]:
    count, wanted = len(plan.sizes), f"the plan has {many(len(plan.sizes), 'size')}"
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind != "O":
        raise ObservationError(
            f"An array of shape {values.shape} was given where {wanted}. It does not say which draw belongs to which "
            "size. Write a table draws x sizes, or one array per size."
        )
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        table = float_array(values)
        if table.ndim != 2 or table.shape[1] != count:
            turned = " It looks transposed." if table.ndim == 2 and table.shape[0] == count else ""
            raise ObservationError(
                f"An array of shape {table.shape} was given where {wanted}.{turned} "
                f"Write a table draws x sizes, {many(count, 'column')} wide."
            )
        return list(table.T)
    if not isinstance(values, Sequence | np.ndarray):
        raise ObservationError(
            f"A {type(values).__name__} was given where {wanted}. Write a table draws x sizes, or one array per size."
        )
    if len(values) != count:
        raise ObservationError(
            f"The data are {many(len(values), 'array')} of draws where {wanted}. Write one array per size."
        )
    columns = [
        float_array(column, f"The draws at {plan.letter} = {plan.sizes[at]:g}") for at, column in enumerate(values)
    ]
    if any(column.ndim != 1 for column in columns):
        shapes = ", ".join(str(column.shape) for column in columns)
        raise ObservationError(f"Arrays of shapes {shapes} were given, one per size. Each is a plain list of draws.")
    plain = not any(isinstance(column, np.ndarray) for column in values)
    if plain and all(len(column) == count for column in columns) and plan.seeds is not Seeds.INDEPENDENT:
        raise ObservationError(
            f"A list of {count} lists of {many(count, 'number')} was given. "
            "It does not say whether rows are draws or sizes. Write np.array(...) for a table draws x sizes, or a list of "
            "arrays for one array per size."
        )
    return columns
